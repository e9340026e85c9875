"""What the card and the report say of a set, computed from its rows and from nothing else."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ops6k.assemble.join import Story
from ops6k.labels import key
from ops6k.records import Environment, Match, Task

FASTER = 1.05
"""A speed-up counts as one from 5 %, as in the milestone reward."""


# What torch calls GPUs. Anything else counts as a CPU: a warning too many misleads nobody.
_GPU = re.compile(r"\b(NVIDIA|Tesla|Quadro|GeForce|TITAN|Radeon|Instinct)\b")


def is_cpu(environment: Environment) -> bool:
    """Neither a driver nor a GPU's name is known of it."""
    return environment.driver is None and not _GPU.search(environment.device)


def device_of(environment: Environment) -> str:
    """`NVIDIA H200`, or `a CPU`, with what else a row may call it: `a CPU (x86_64)`."""
    if not is_cpu(environment):
        return environment.device
    return "a CPU" if environment.device == "cpu" else f"a CPU ({environment.device})"


@dataclass(frozen=True, slots=True)
class Share:
    name: str
    rows: int
    share: float
    """0-1; of rows, so that shares of categories sum to more than 1."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles of a figure over the rows."""

    least: float
    low: float
    """5 % quantile."""
    median: float
    high: float
    """95 % quantile."""
    most: float
    mean: float
    """Geometric where the figure is a ratio or a time."""


@dataclass(frozen=True, slots=True)
class Facts:
    rows: int
    operators: int
    """Distinct operators, spellings of one counted once."""
    clusters: int
    depth: tuple[Share, ...]
    dtype: tuple[Share, ...]
    data_source: tuple[Share, ...]
    source: tuple[Share, ...]
    categories: tuple[Share, ...]
    tiers: tuple[Share, ...]
    flags: tuple[Share, ...]
    top_operators: tuple[Share, ...]
    derived: int
    """Rows that the screen made from another candidate."""
    mode_dependent: int
    bitwise: int
    launch_bound: int
    without_tolerance: int
    eager_ms: Spread | None
    speedup: Spread | None
    """Eager over compiled device time."""
    compiled_faster: float
    """Share of rows that the default torch.compile makes more than 5 % faster, 0-1."""
    compiled_slower: float
    headroom: Spread | None
    """Eager device time over the fused lower bound."""
    predicted: Spread | None
    """Measured over predicted eager time."""
    predicted_within_2x: float
    similarity: Spread | None
    environments: tuple[Environment, ...]
    on_cpu: int
    """Rows whose evidence is of a CPU."""

    @property
    def composed(self) -> int:
        """Rows that the built-in composer made."""
        return sum(share.rows for share in self.source if share.name == "composer")


def facts(tasks: Sequence[Task]) -> Facts:
    rows = len(tasks)
    speedup = [t.timing.eager_ms / t.timing.compiled_ms for t in tasks if t.timing.compiled_ms > 0]
    predicted = [t.timing.eager_ms / t.work.predicted_ms for t in tasks if t.work.predicted_ms > 0]
    labels = {key(op): op for t in tasks for op in t.ops}
    return Facts(
        rows=rows,
        operators=len(labels),
        clusters=len({t.cluster for t in tasks}),
        depth=shares((str(t.depth) for t in tasks), rows, by_name=True),
        dtype=shares((t.dtype for t in tasks), rows),
        data_source=shares((t.data_source for t in tasks), rows, by_name=True),
        source=shares((t.source for t in tasks), rows),
        categories=shares((c for t in tasks for c in set(t.categories)), rows),
        tiers=shares((f"{t.work.tier_gib} GiB" if t.work.tier_gib else "over 80 GiB" for t in tasks), rows),
        flags=shares((flag for t in tasks for flag in set(t.checks.flags)), rows),
        top_operators=shares((labels[name] for t in tasks for name in {key(op) for op in t.ops}), rows)[:20],
        derived=sum(t.parent is not None for t in tasks),
        mode_dependent=sum(t.checks.mode_dependent for t in tasks),
        bitwise=sum(t.checks.bitwise_repeatable for t in tasks),
        launch_bound=sum(t.timing.launch_bound for t in tasks),
        without_tolerance=sum(t.checks.atol is None for t in tasks),
        eager_ms=spread([t.timing.eager_ms for t in tasks]),
        speedup=spread(speedup),
        compiled_faster=_share(speedup, lambda ratio: ratio > FASTER),
        compiled_slower=_share(speedup, lambda ratio: ratio < 1 / FASTER),
        headroom=spread([t.timing.eager_ms / t.work.sol_ms for t in tasks if t.work.sol_ms > 0]),
        predicted=spread(predicted),
        predicted_within_2x=_share(predicted, lambda ratio: 0.5 <= ratio <= 2),
        similarity=spread([t.similarity.score for t in tasks if t.similarity], geometric=False),
        environments=tuple(sorted({t.environment for t in tasks}, key=str)),
        on_cpu=sum(is_cpu(t.environment) for t in tasks),
    )


def shares(names: Iterable[str], rows: int, *, by_name: bool = False) -> tuple[Share, ...]:
    """How many rows each name has; most frequent first, or in the order of names."""
    counts = Counter(names)
    order = sorted(counts) if by_name else sorted(counts, key=lambda name: (-counts[name], name))
    return tuple(Share(name, counts[name], counts[name] / rows) for name in order)


def spread(values: Sequence[float], *, geometric: bool = True) -> Spread | None:
    """Quantiles and mean; None for no values."""
    if not values:
        return None
    array = np.asarray(values, dtype=np.float64)
    mean = np.exp(np.log(array).mean()) if geometric and array.min() > 0 else array.mean()
    return Spread(*(float(q) for q in np.quantile(array, (0, 0.05, 0.5, 0.95, 1))), mean=float(mean))


def _share(values: Sequence[float], is_part: object) -> float:
    return sum(map(is_part, values)) / len(values) if values else 0.0


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark that the candidates were compared with."""

    name: str
    compared: int
    """Candidates with a nearest problem in it."""
    rejected: int
    """Candidates dropped as copies of one of its problems."""
    nearest: int
    """Rows of the set whose nearest problem is in it."""
    contains: int
    """Rows that hold three or more operators of one of its problems in one piece."""
    operators: int
    """Rows that use exactly the operators of one of its problems, in whatever order."""


def benchmarks(stories: Sequence[Story], chosen: Sequence[Story]) -> tuple[Benchmark, ...]:
    """Counted from the matches, by name. chosen: those that became rows."""
    rows = {s.candidate.candidate_id for s in chosen}
    matches = [m for s in stories for m in s.matches if m.benchmark]

    def count(found: Iterable[Match]) -> Counter[str]:
        return Counter(name for name, _ in {(m.benchmark, m.candidate_id) for m in found})

    compared, rejected = count(matches), count(m for m in matches if m.reason)
    nearest = count(s.nearest for s in chosen if s.nearest)
    contains = count(m for m in matches if m.channel == "contains" and m.candidate_id in rows)
    operators = count(m for m in matches if m.channel == "operators" and m.score >= 1 and m.candidate_id in rows)
    return tuple(
        Benchmark(name, compared[name], rejected[name], nearest[name], contains[name], operators[name])
        for name in sorted(compared)
    )
