"""What attempts were worth: milestones and speed-ups of the best attempt, a score over tasks. Standard library and numpy only.

Where no attempt was correct, eager is left: that is what a person would run. Its milestone is still the failure's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ops6k.train.times import PlanStatus, PlanTime

Order = tuple[PlanTime, ...]
"""The attempts of one strategy on one task, first to last; at least one."""


@dataclass(frozen=True, slots=True)
class Values:
    """What a strategy got, each (runs, tasks). A run is a seed of an agent, or a draw of what is random."""

    milestone: np.ndarray
    """-1, 1, 2 or 3."""
    log_eager: np.ndarray
    """Natural logarithm of the speed-up over eager."""
    log_compiled: np.ndarray
    """Over default compile; NaN where that does not run."""
    log_better: np.ndarray
    """Over the better of the two."""


@dataclass(frozen=True, slots=True)
class Score:
    """One strategy on the judged tasks, mean over its runs; shares are 0-1."""

    mean_reward: float
    """Of the milestones -1, 1, 2, 3."""
    pass_rate: float
    faster_than_eager: float
    """Share of tasks with milestone 2 or 3."""
    faster_than_compile: float
    """Share with milestone 3."""
    speedup_over_eager: float
    """Geometric mean over tasks of the fastest correct attempt; eager's own where none was correct."""
    speedup_over_compile: float | None
    """The same, over the tasks whose default compile runs; None where it runs for none."""


def values(runs: Sequence[Sequence[Order]], eager: Sequence[PlanTime], attempts: int) -> Values:
    """Of the first `attempts` attempts. runs: an order for each task; eager: each task's own row of eager."""
    found = np.array([[_worth(order[:attempts], left) for order, left in zip(run, eager, strict=True)] for run in runs])
    return Values(*np.moveaxis(found, 2, 0))


def score(found: Values) -> Score:
    milestone = found.milestone
    compiled = found.log_compiled[~np.isnan(found.log_compiled)]
    return Score(
        mean_reward=float(milestone.mean()),
        pass_rate=float((milestone >= 1).mean()),
        faster_than_eager=float((milestone >= 2).mean()),
        faster_than_compile=float((milestone >= 3).mean()),
        speedup_over_eager=math.exp(found.log_eager.mean()),
        speedup_over_compile=math.exp(compiled.mean()) if compiled.size else None,
    )


def log_better(row: PlanTime) -> float:
    """Logarithm of a correct attempt's speed-up over the better of eager and default compile."""
    return math.log(row.ratio_eager if row.ratio_compiled is None else min(row.ratio_eager, row.ratio_compiled))


def by_milestone(row: PlanTime) -> tuple[float, float]:
    """What makes one attempt better than another; speed-up among equals."""
    return float(row.milestone), log_better(row) if row.status is PlanStatus.CORRECT else -math.inf


def by_speed(row: PlanTime) -> tuple[float, float]:
    """The other way round; a failure counts as half as fast."""
    return log_better(row) if row.status is PlanStatus.CORRECT else -0.7, float(row.milestone)


def graded(row: PlanTime) -> float:
    """The milestone, within half a point of it by speed-up: what a regression can learn a ranking from."""
    return row.milestone + (0.5 * math.tanh(4 * log_better(row)) if row.status is PlanStatus.CORRECT else 0.0)


def _worth(tried: Order, eager: PlanTime) -> tuple[float, float, float, float]:
    correct = [row for row in tried if row.status is PlanStatus.CORRECT]
    fastest = max(correct, key=lambda row: row.ratio_eager, default=eager)
    compiled = math.nan if fastest.ratio_compiled is None else math.log(fastest.ratio_compiled)
    return max(row.milestone for row in tried), math.log(fastest.ratio_eager), compiled, log_better(fastest)
