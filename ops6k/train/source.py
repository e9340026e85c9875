"""Where an attempt's time comes from: a table of measured times, or a device that measures now. Standard library only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ops6k.records import Task
from ops6k.train.plans import Plan, plans_for
from ops6k.train.sketch import Sketch
from ops6k.train.times import PlanTime, TimeTable


class TimeSource(Protocol):
    """What the environment asks."""

    def plans(self, task: Task) -> Sequence[str]:
        """Names of the plans that may be attempted; what is not among them is masked."""
        ...

    def time(self, task: Task, plan: str) -> PlanTime:
        """What an attempt at one of them gave."""
        ...


@dataclass(frozen=True)
class TableTimes:
    """A table: an unmeasured plan is no plan."""

    table: TimeTable

    def plans(self, task: Task) -> Sequence[str]:
        return tuple(sorted(self.table.attempts(task.task_id)))

    def time(self, task: Task, plan: str) -> PlanTime:
        return self.table.attempts(task.task_id)[plan]


@dataclass(frozen=True)
class LiveTimes:
    """A device: each plan is measured when it is first attempted, and remembered."""

    measure: Callable[[Task, Plan], PlanTime]
    """Measures one plan of one task, and keeps the row where the table is made from."""
    sketches: Mapping[str, Sketch]
    count: int
    """At most so many plans a task, as plans.plans_for orders them."""
    known: dict[tuple[str, str], PlanTime] = field(default_factory=dict)

    def plans(self, task: Task) -> Sequence[str]:
        return tuple(plan.name for plan in plans_for(task, self.sketches[task.task_id].rewrites, self.count))

    def time(self, task: Task, plan: str) -> PlanTime:
        key = (task.task_id, plan)
        if key not in self.known:
            self.known[key] = self.measure(task, Plan.named(plan))
        return self.known[key]
