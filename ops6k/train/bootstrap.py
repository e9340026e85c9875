"""The share of the gap between the best fixed plan and the oracle that a strategy closes, and how sure that is. Numpy only."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DRAWS = 4000
_ENDS = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class Share:
    """(strategy - best fixed) / (oracle - best fixed), of means over tasks and runs; all None where there is no gap to close.

    low and high: 95 % percentile bootstrap, clusters of tasks and runs each drawn with replacement. A draw without a gap says
    nothing and is left out.
    """

    share: float | None
    low: float | None
    high: float | None


NO_GAP = Share(None, None, None)


def share_closed(
    strategy: np.ndarray, fixed: np.ndarray, oracle: np.ndarray, clusters: Sequence[str], generator: np.random.Generator
) -> Share:
    """strategy: (runs, tasks); fixed, oracle: (tasks,); clusters: each task's, of which a draw takes all tasks or none."""
    whole = oracle.mean() - fixed.mean()
    if whole <= 0:
        return NO_GAP
    tasks, runs = weights(clusters, generator), _counts(strategy.shape[0], DRAWS, generator)
    gained = np.einsum("br,rt,bt->b", runs / strategy.shape[0], strategy, tasks) - tasks @ fixed
    gaps = tasks @ (oracle - fixed)
    # Sums of floats: a gap of rounding's size is none.
    drawn = gaps > 1e-9
    low, high = np.quantile(gained[drawn] / gaps[drawn], _ENDS)
    return Share(float((strategy.mean() - fixed.mean()) / whole), float(low), float(high))


def weights(clusters: Sequence[str], generator: np.random.Generator) -> np.ndarray:
    """How often each task counts in each draw, (DRAWS, tasks): as many clusters as there are, with replacement."""
    names = sorted(set(clusters))
    place = np.array([names.index(name) for name in clusters])
    return _counts(len(names), DRAWS, generator)[:, place]


def _counts(of: int, draws: int, generator: np.random.Generator) -> np.ndarray:
    return generator.multinomial(of, np.full(of, 1 / of), size=draws).astype(float)
