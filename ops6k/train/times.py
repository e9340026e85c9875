"""Measured times of tasks under plans: the record, its checks, and a table that knows what was measured.

Standard library and pyarrow only. A table never invents: what has no row is not measured, and a row that cannot be true
(NaN, negative, an interval that misses its middle) is refused.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ops6k import store
from ops6k.errors import Ops6kError
from ops6k.train.plans import Plan, UnknownPlan

MARGIN = 1.05
"""More than 5 % faster is what the milestones 2 and 3 ask, of the interval's lower bound."""


class PoisonedTimes(Ops6kError):
    """A table of times has a row that cannot be true; names table, task and plan."""


class PlanStatus(StrEnum):
    CORRECT = "correct"
    WRONG = "wrong"
    FAILED = "failed"
    """Raised, or took the child with it."""
    INAPPLICABLE = "inapplicable"
    """Changes nothing for this task (no 4-d tensor for a memory format): never an action."""
    UNFINISHED = "unfinished"
    """Ran out of time or memory: may pass on a larger machine, never an action."""


@dataclass(frozen=True, slots=True)
class PlanTime:
    """One task under one plan on one machine. Ratios are eager or default compile over plan, paired: above 1 the plan is faster.

    low and high: 95 % bootstrap interval of the median of the paired ratios. Times and ratios are None unless the
    plan was correct; those against default compile also where default compile itself does not run.
    """

    task_id: str
    plan: str
    definition: str
    """Plan.definition at the time."""
    target: str
    device: str
    driver: str | None
    torch: str
    triton: str | None
    repeats: int
    status: PlanStatus
    message: str
    """What went wrong, in one line; empty when correct."""
    ms: float | None = None
    """Median time of one forward."""
    ratio_eager: float | None = None
    ratio_eager_low: float | None = None
    ratio_eager_high: float | None = None
    ratio_compiled: float | None = None
    ratio_compiled_low: float | None = None
    ratio_compiled_high: float | None = None

    @property
    def is_attempt(self) -> bool:
        """Whether an agent may pick it: it ran to an end, good or bad."""
        return self.status in (PlanStatus.CORRECT, PlanStatus.WRONG, PlanStatus.FAILED)

    @property
    def milestone(self) -> int:
        """-1 wrong or failed, 1 correct, 2 surely more than 5 % faster than eager, 3 than default compile as well."""
        if self.status is not PlanStatus.CORRECT:
            return -1
        if self.ratio_eager_low is None or self.ratio_eager_low <= MARGIN:
            return 1
        return 3 if self.ratio_compiled_low is not None and self.ratio_compiled_low > MARGIN else 2


class TimeTable:
    """Times by task and plan; rows of plans that are no longer defined so are left out."""

    def __init__(self, rows: Iterable[PlanTime]) -> None:
        """Raises PoisonedTimes for a row that cannot be true, or for two rows of one task and plan."""
        self._rows: dict[str, dict[str, PlanTime]] = {}
        for row in rows:
            _refuse_poison(row)
            if _definition(row.plan) != row.definition:
                continue
            plans = self._rows.setdefault(row.task_id, {})
            if row.plan in plans:
                raise PoisonedTimes(f"plan times: task {row.task_id} has two rows for plan {row.plan}")
            plans[row.plan] = row

    def of(self, task_id: str) -> dict[str, PlanTime]:
        """Every row of a task by plan; empty when none."""
        return self._rows.get(task_id, {})

    def attempts(self, task_id: str) -> dict[str, PlanTime]:
        """The rows an agent may pick."""
        return {name: row for name, row in self.of(task_id).items() if row.is_attempt}

    def rows(self) -> list[PlanTime]:
        """All rows, sorted by task and plan."""
        return [self._rows[task][plan] for task in sorted(self._rows) for plan in sorted(self._rows[task])]


def read(path: Path) -> TimeTable:
    """The table in a Parquet file; raises MissingInput, PoisonedTimes."""
    try:
        return TimeTable(store.read_rows(path, PlanTime))
    except PoisonedTimes as error:
        raise PoisonedTimes(f"{path}: {error}") from None


def _refuse_poison(row: PlanTime) -> None:
    numbers = (row.ms, *_interval(row, "eager"), *_interval(row, "compiled"))
    place = f"plan times: task {row.task_id}, plan {row.plan}"
    for number in numbers:
        if number is not None and not (math.isfinite(number) and number > 0):
            raise PoisonedTimes(f"{place}: {number} is no time or ratio")
    if row.status is PlanStatus.CORRECT and (row.ms is None or row.ratio_eager_low is None):
        raise PoisonedTimes(f"{place}: correct, but without a time")
    for against in ("eager", "compiled"):
        middle, low, high = _interval(row, against)
        if None not in (middle, low, high) and not low <= middle <= high:
            raise PoisonedTimes(f"{place}: ratio {middle} against {against} lies outside its interval {low} to {high}")


def _interval(row: PlanTime, against: str) -> tuple[float | None, float | None, float | None]:
    return tuple(getattr(row, f"ratio_{against}{end}") for end in ("", "_low", "_high"))


def _definition(name: str) -> str | None:
    try:
        return Plan.named(name).definition
    except UnknownPlan:
        return None
