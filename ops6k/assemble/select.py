"""Which of the accepted candidates become rows: quotas of depth and dtype, and a floor for transformers.

Depth is filled first, by largest remainder over what there is. How many rows each (depth, dtype, transformers) cell gives
is then a small integer programme, solved goal by goal: the transformers floor, the dtype mix, each depth's own dtype mix.
Within a cell, rare operators go first, ties by a hash of seed and id.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from ops6k.assemble.join import Story
from ops6k.errors import Ops6kError
from ops6k.labels import key
from ops6k.params import MixParams
from ops6k.store import fingerprint

K = TypeVar("K", int, str)
Cell = tuple[int, str, bool]
"""depth, dtype, uses transformers."""


@dataclass(frozen=True, slots=True)
class Quota:
    """One demand on the mix, in rows."""

    name: str
    wanted: int
    got: int
    available: int
    """Eligible candidates that count towards it."""

    @property
    def short(self) -> int:
        return max(self.wanted - self.got, 0)


@dataclass(frozen=True, slots=True)
class Selection:
    stories: tuple[Story, ...]
    quotas: tuple[Quota, ...]
    outside_mix: int
    """Eligible candidates of a depth or dtype that the mix gives no share."""


@dataclass(frozen=True, slots=True)
class _Goal:
    """So many rows from these cells; `over` counts rows above the target as missing it too."""

    cells: tuple[Cell, ...]
    target: float
    over: bool = True


def largest_remainder(shares: Mapping[K, float], total: int, available: Mapping[K, int] | None = None) -> dict[K, int]:
    """`total` in whole numbers by share: floors first, the rest to the largest remainders, ties in the order of keys.

    With `available`, nothing gets more than is there and what it lacks goes to the others by their shares; the sum is
    then min(total, sum of available over shares above zero). Shares are scaled to sum to 1 and handled exactly.
    """
    exact = {k: Fraction(str(share)) for k, share in shares.items() if share > 0}
    fixed: dict[K, int] = {}
    while True:
        counts = _apportion({k: share for k, share in exact.items() if k not in fixed}, total - sum(fixed.values()))
        over = [] if available is None else [k for k, count in counts.items() if count > available.get(k, 0)]
        if not over:
            return {k: (fixed | counts).get(k, 0) for k in shares}
        fixed |= {k: available.get(k, 0) for k in over}


def _apportion(shares: Mapping[K, Fraction], total: int) -> dict[K, int]:
    if not shares:
        return {}
    whole = sum(shares.values())
    exact = {k: share * total / whole for k, share in shares.items()}
    counts = {k: math.floor(value) for k, value in exact.items()}
    by_remainder = sorted(shares, key=lambda k: (counts[k] - exact[k], k))
    for k in by_remainder[: total - sum(counts.values())]:
        counts[k] += 1
    return counts


def select(eligible: Iterable[Story], mix: MixParams, rows: int, seed: int) -> Selection:
    """At most `rows` stories, as near to the mix as there is stock; the same for the same seed, in whatever order they come."""
    eligible = list(eligible)
    order = [
        s
        for s in by_rarity(eligible, seed)
        if mix.depth.get(s.candidate.depth, 0) > 0 and mix.dtype.get(s.candidate.dtype, 0) > 0
    ]
    stock: dict[Cell, list[Story]] = {}
    for story in order:
        stock.setdefault(cell_of(story), []).append(story)
    counts = _cell_counts([cell_of(s) for s in order], mix, rows)
    chosen = [story for cell, count in counts.items() for story in stock[cell][:count]]
    available = Counter({cell: len(members) for cell, members in stock.items()})
    return Selection(tuple(chosen), tuple(_quotas(counts, available, mix, rows)), len(eligible) - len(order))


def cell_of(story: Story) -> Cell:
    return story.candidate.depth, story.candidate.dtype, story.candidate.data_source == "transformers"


def by_rarity(stories: Sequence[Story], seed: int) -> list[Story]:
    """Those with the rarest operator first, so that the set keeps as many operators as it can.

    Ties go by a hash of seed and id, not by a shuffle: a new candidate then leaves the order of the others alone.
    """
    uses = Counter(label for story in stories for label in {key(op) for op in story.candidate.ops})
    return sorted(stories, key=lambda s: (min(uses[key(op)] for op in s.candidate.ops), draw(seed, s.candidate.candidate_id)))


def draw(seed: int, name: str) -> str:
    """A place in line that depends on the seed and the name alone."""
    return fingerprint(seed, name)


def require_full(selection: Selection) -> None:
    """Raises Ops6kError with every quota that is short."""
    short = [q for q in selection.quotas if q.short]
    if short:
        list_ = "; ".join(f"{q.name} wants {q.wanted}, has {q.got} ({q.short} short)" for q in short)
        raise Ops6kError(
            f"assemble: too few accepted tasks for the mix: {list_}. Raise fuse.candidates, or set assemble.short: allow"
        )


def _quotas(counts: Mapping[Cell, int], available: Mapping[Cell, int], mix: MixParams, rows: int) -> Iterable[Quota]:
    def quota(name: str, wanted: int, is_part: object) -> Quota:
        got, there = (sum(n for cell, n in of.items() if is_part(cell)) for of in (counts, available))
        return Quota(name, wanted, got, there)

    for depth, wanted in largest_remainder(mix.depth, rows).items():
        yield quota(f"depth {depth}", wanted, lambda cell, depth=depth: cell[0] == depth)
    for dtype, wanted in largest_remainder(mix.dtype, rows).items():
        yield quota(f"dtype {dtype}", wanted, lambda cell, dtype=dtype: cell[1] == dtype)
    yield quota("transformers", _floor(mix.transformers, rows), lambda cell: cell[2])


def _floor(share: float, rows: int) -> int:
    return math.ceil(Fraction(str(share)) * rows)


def _cell_counts(order: Sequence[Cell], mix: MixParams, rows: int) -> dict[Cell, int]:
    """How many rows each cell gives. order: the cell of each story, first choice first."""
    if not order:
        return {}
    stock = dict(sorted(Counter(order).items()))
    depths = largest_remainder(mix.depth, rows, Counter(cell[0] for cell in order))
    taken = sum(depths.values())
    transformers = tuple(cell for cell in stock if cell[2])
    parts = {(depth, dtype): share * count for depth, count in depths.items() for dtype, share in mix.dtype.items()}
    levels = [
        [_Goal(transformers, _floor(mix.transformers, taken), over=False)],
        [_Goal(_with_dtype(stock, dtype), wanted) for dtype, wanted in largest_remainder(mix.dtype, taken).items()],
        [_Goal(_with_dtype(stock, dtype, depth), part) for (depth, dtype), part in parts.items()],
        # Above the floor, transformers rows are neither hunted for nor avoided: as many as come first in line.
        [_Goal((cell,), _first_in_line(order, cell, round(parts[cell[:2]]))) for cell in transformers],
    ]
    return _solve(stock, depths, levels)


def _first_in_line(order: Sequence[Cell], cell: Cell, places: int) -> int:
    """How many of the first so many stories of the cell's depth and dtype are the cell's."""
    return [other for other in order if other[:2] == cell[:2]][:places].count(cell)


def _with_dtype(stock: Iterable[Cell], dtype: str, depth: int | None = None) -> tuple[Cell, ...]:
    return tuple(cell for cell in stock if cell[1] == dtype and depth in (None, cell[0]))


def _solve(stock: Mapping[Cell, int], depths: Mapping[int, int], levels: Sequence[Sequence[_Goal]]) -> dict[Cell, int]:
    """Whole numbers within stock whose depths add up, with the least total miss of each level's goals, level by level."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    cells, goals = list(stock), [goal for level in levels for goal in level]
    size = len(cells) + len(goals)  # unknowns: rows of each cell, then the miss of each goal
    rules = [
        LinearConstraint(_row(size, [cells.index(c) for c in cells if c[0] == depth]), count, count)
        for depth, count in depths.items()
    ]
    for place, goal in enumerate(goals, start=len(cells)):
        members = _row(size, [cells.index(c) for c in goal.cells])
        rules.append(LinearConstraint(members + _row(size, [place]), goal.target, np.inf))
        if goal.over:
            rules.append(LinearConstraint(members - _row(size, [place]), -np.inf, goal.target))
    bounds = Bounds(np.zeros(size), np.array([*stock.values(), *[np.inf] * len(goals)]))
    whole = np.array([1] * len(cells) + [0] * len(goals))
    first = len(cells)
    for level in levels:
        miss = _row(size, range(first, first + len(level)))
        found = milp(miss, integrality=whole, bounds=bounds, constraints=rules, options={"mip_rel_gap": 0.0})
        if found.x is None:
            raise Ops6kError(f"assemble: the quotas could not be solved ({found.message})")
        rules.append(LinearConstraint(miss, -np.inf, found.fun + 1e-6))
        first += len(level)
    return {cell: round(count) for cell, count in zip(cells, found.x, strict=False)}


def _row(size: int, places: Iterable[int]) -> "np.ndarray":  # noqa: F821 - numpy is imported where it is used
    import numpy as np

    row = np.zeros(size)
    row[list(places)] = 1
    return row
