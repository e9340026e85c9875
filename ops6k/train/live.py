"""Times taken now: one plan of one task at a time, on this machine, kept in the table's work folder. Standard library only."""

from dataclasses import dataclass
from pathlib import Path

from ops6k.records import Task
from ops6k.target import Target
from ops6k.train.collect import Measuring, measure_tasks
from ops6k.train.plans import Plan
from ops6k.train.times import PlanTime


@dataclass(frozen=True, slots=True)
class Device:
    """A machine that measures what it is asked for; `measure` is what source.LiveTimes takes."""

    target: Target
    how: Measuring
    work: Path

    def measure(self, task: Task, plan: Plan) -> PlanTime:
        """The row, from the work folder where it is there. Raises TargetMismatch, WorkerError."""
        return measure_tasks([(task, (plan,))], self.target, self.how, self.work).of(task.task_id)[plan.name]
