"""Near pairs among very many texts: MinHash signatures in blocks, a band at a time or on many machines, exact Jaccard last.

The same decisions as neighbours.Growing, which finds neighbours one task at a time: the same signatures, bands and
confirmation. Here a band is a sort instead of a dictionary, so a million texts fit into memory, and a band depends on
nothing but its own columns: `over_bands` may be any map, that of a process pool or of ray.util.multiprocessing.Pool.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ops6k.dedup.neighbours import bands, likely_from
from ops6k.dedup.shingles import jaccards

_VALUES = 1 << 15
"""Hashes that are permuted at a time: with 128 permutations 16 MiB, which stays in the cache."""

_PAIRS = 1 << 18
"""Pairs that are looked at at a time."""

Groups = tuple[np.ndarray, np.ndarray]
"""Numbers of sets, group behind group, and where each group begins, with the end."""

BandMap = Callable[[Callable[[np.ndarray], Groups], Iterable[np.ndarray]], Iterable[Groups]]


@dataclass(frozen=True, slots=True)
class Texts:
    """Sets of 32-bit hashes, one behind the other; each is sorted, distinct and not empty."""

    values: np.ndarray
    """uint32."""
    starts: np.ndarray
    """(N + 1,) int64: set i is values[starts[i]:starts[i + 1]]."""

    @classmethod
    def of(cls, sets: Sequence[np.ndarray]) -> "Texts":
        """Raises ValueError where a set is empty: it has no signature."""
        sizes = np.array([part.size for part in sets], np.int64)
        if not sizes.all():
            raise ValueError(f"set {int(sizes.argmin())} is empty")
        values = np.concatenate([*sets, np.empty(0, np.uint32)]).astype(np.uint32)
        return cls(values, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    def __len__(self) -> int:
        return self.starts.size - 1

    def __getitem__(self, number: int) -> np.ndarray:
        return self.values[self.starts[number] : self.starts[number + 1]]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Confirmed near pairs, each once."""

    left: np.ndarray
    """(P,) int64, the smaller number."""
    right: np.ndarray
    scores: np.ndarray
    """Exact Jaccard, float64."""


def near_pairs(
    texts: Texts, threshold: float, num_perm: int, seed: int, over_bands: BandMap = map, kinds: np.ndarray | None = None
) -> Pairs:
    """All pairs whose exact Jaccard is at the threshold, but for the share that neighbours.MISSED allows.

    kinds: (N,) uint32; only texts of one kind are paired. A hash of the operators in dataflow order is one: the stage merges no
    other texts, and without it the pairs to be looked at grow with the square of the rows where all come from one grammar.
    """
    signed = signatures(texts, num_perm, seed)
    count, rows = bands(threshold, num_perm)
    kind = np.empty((len(texts), 0), np.uint32) if kinds is None else kinds[:, None]
    columns = (np.hstack([signed[:, rows * i : rows * (i + 1)], kind]) for i in range(count))
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for band, groups in enumerate(over_bands(band_groups, columns)):
        for left, right in _pairs(groups):
            kept = _proposed_first(signed, left, right, band, rows)
            left, right = left[kept], right[kept]
            likely = (signed[left] == signed[right]).mean(axis=1) >= likely_from(threshold, num_perm)
            found.append(_confirmed(texts, left[likely], right[likely], threshold))
    none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    left, right, scores = (np.concatenate(parts) for parts in zip(none, *found, strict=True))
    order = np.lexsort((right, left))
    return Pairs(left[order], right[order], scores[order])


def kept_first(pairs: Pairs, count: int) -> np.ndarray:
    """(count,) bool: which sets stand when earlier ones win and what is near a standing one falls."""
    stands = np.ones(count, bool)
    order = np.lexsort((pairs.left, pairs.right))
    for left, right in zip(pairs.left[order].tolist(), pairs.right[order].tolist(), strict=True):
        if stands[left]:
            stands[right] = False
    return stands


def signatures(texts: Texts, num_perm: int, seed: int) -> np.ndarray:
    """(N, num_perm) uint32: datasketch's affine32 MinHash of every set, many sets at a time."""
    from datasketch import MinHash

    factors, terms = MinHash(num_perm=num_perm, seed=seed, scheme="affine32").permutations
    signed = np.empty((len(texts), num_perm), np.uint32)
    first = 0
    while first < len(texts):
        last = int(np.searchsorted(texts.starts, texts.starts[first] + _VALUES, side="right")) - 1
        last = max(last, first + 1)
        mixed = _mixed(texts.values[texts.starts[first] : texts.starts[last]])
        permuted = mixed[:, None] * factors
        permuted += terms
        signed[first:last] = np.minimum.reduceat(permuted, texts.starts[first:last] - texts.starts[first], axis=0)
        first = last
    return signed


def band_groups(columns: np.ndarray) -> Groups:
    """Groups of two sets or more that agree in a band's columns, (N, rows) uint32; pure, so that it may run anywhere.

    Rows are told apart by 64-bit hashes: a chance collision proposes a pair that is looked at once more.
    """
    keys = np.zeros(len(columns), np.uint64)
    for column in columns.T:
        keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if keys.size else np.empty(0, np.int64)
    sizes = np.diff(np.append(starts, keys.size))
    members = order[np.repeat(sizes > 1, sizes)]
    return members, np.concatenate([[0], np.cumsum(sizes[sizes > 1])]).astype(np.int64)


def _mixed(values: np.ndarray) -> np.ndarray:
    """MurmurHash3's 32-bit finaliser, which affine32 applies before its permutations."""
    mixed = values.copy()
    mixed ^= mixed >> np.uint32(16)
    mixed *= np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    return mixed


def _pairs(groups: Groups) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(left, right) of all pairs within groups, at most about _PAIRS at a time; left < right."""
    members, bounds = groups
    after = np.repeat(bounds[1:], np.diff(bounds)) - np.arange(members.size) - 1
    ends = np.cumsum(after)
    first = 0
    while first < members.size:
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + _PAIRS, side="right")), first + 1)
        partners = after[first:last]
        owners = np.repeat(np.arange(first, last), partners)
        steps = np.arange(owners.size) - np.repeat(np.cumsum(partners) - partners, partners)
        yield members[owners], members[owners + 1 + steps]  # a stable sort leaves members of a group in order
        first = last


def _proposed_first(signed: np.ndarray, left: np.ndarray, right: np.ndarray, band: int, rows: int) -> np.ndarray:
    """Where a pair agrees in this band and in none before it: every pair is looked at once."""
    upto = rows * (band + 1)
    equal = (signed[left, :upto] == signed[right, :upto]).reshape(left.size, band + 1, rows).all(axis=2)
    return equal[:, band] & ~equal[:, :band].any(axis=1)


def _confirmed(texts: Texts, left: np.ndarray, right: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores = np.empty(left.size)
    changes = np.flatnonzero(np.diff(left)) + 1
    for part in np.split(np.arange(left.size), changes) if left.size else ():
        scores[part] = jaccards(texts[left[part[0]]], [texts[number] for number in right[part]])
    near = scores >= threshold
    return left[near], right[near], scores[near]
