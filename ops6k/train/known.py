"""What is known of tasks before an agent sees them: times and sketches. Standard library and pyarrow only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ops6k.records import Task
from ops6k.train.sketch import Sketch
from ops6k.train.times import PlanStatus, PlanTime, TimeTable


@dataclass(frozen=True, slots=True)
class Known:
    """Of all tasks, trained on or judged."""

    table: TimeTable
    sketches: Mapping[str, Sketch]
    """By task_id."""

    def judgeable(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Those whose eager was measured and correct: without it nothing can be compared."""
        return tuple(task for task in tasks if (row := self.eager(task)) and row.status is PlanStatus.CORRECT)

    def eager(self, task: Task) -> PlanTime | None:
        return self.table.attempts(task.task_id).get("eager")

    def joined(self, other: "Known") -> "Known":
        """Both; tasks that both know are the other's."""
        mine = [row for row in self.table.rows() if not other.table.of(row.task_id)]
        return Known(TimeTable([*mine, *other.table.rows()]), {**self.sketches, **other.sketches})
