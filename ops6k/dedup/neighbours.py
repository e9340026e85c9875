"""Nearest neighbours of sets: exact against a fixed list, MinHash proposals confirmed exactly against a growing one."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ops6k.dedup.program import digest
from ops6k.dedup.shingles import jaccards

MISSED = 1e-5
"""Largest share of pairs at the threshold that the bands may fail to propose."""

_DEVIATIONS = 5
"""Standard deviations of a signature's estimate by which it may fall short of the threshold."""


def multiset(items: Iterable[str]) -> np.ndarray:
    """A multiset as a sorted uint64 array: the second relu is another element than the first."""
    elements = {f"{item} {i}" for item, count in Counter(items).items() for i in range(count)}
    return np.array(sorted(int(digest(element), 16) for element in elements), np.uint64)


def pairs_in_order(items: Sequence[str]) -> np.ndarray:
    """A sequence as the multiset of its neighbouring pairs, ends included: order counts, length little."""
    return multiset(f"{left}>{right}" for left, right in zip(["", *items], [*items, ""], strict=True)) if items else multiset(())


class Exact:
    """Exact Jaccard similarity of one set with each of a fixed list, by inverted index."""

    def __init__(self, sets: Sequence[np.ndarray]) -> None:
        self.sizes = np.array([part.size for part in sets], np.int64)
        values = np.concatenate(sets) if len(sets) else np.empty(0, np.uint64)
        owners = np.repeat(np.arange(len(sets)), self.sizes)
        order = np.argsort(values, kind="stable")
        self.owners = owners[order]
        self.values, starts = np.unique(values[order], return_index=True)
        self.bounds = np.append(starts, values.size)

    def scores(self, values: np.ndarray) -> np.ndarray:
        """Similarity with each set, (N,) float64, 0-1; the empty set is like nothing."""
        if not self.values.size:
            return np.zeros(self.sizes.size)
        at = np.minimum(np.searchsorted(self.values, values), self.values.size - 1)
        at = at[self.values[at] == values]
        found = [self.owners[start:end] for start, end in zip(self.bounds[at], self.bounds[at + 1], strict=True)]
        common = np.bincount(np.concatenate(found), minlength=self.sizes.size) if found else np.zeros(self.sizes.size)
        return common / np.maximum(self.sizes + values.size - common, 1)


class Growing:
    """Near neighbours among what was added: MinHash with banding proposes, exact Jaccard confirms.

    Every pair at `threshold` is proposed but for a share of MISSED; pairs far below rarely are.
    """

    def __init__(self, threshold: float, num_perm: int, seed: int) -> None:
        from datasketch import MinHash, MinHashLSH

        self.threshold = threshold
        self.likely = likely_from(threshold, num_perm)
        self.empty = MinHash(num_perm=num_perm, seed=seed, hashfunc=int, scheme="affine32")
        self.lsh = MinHashLSH(num_perm=num_perm, params=bands(threshold, num_perm))
        self.signatures = np.empty((1024, num_perm), np.uint32)
        self.sets: list[np.ndarray] = []
        self.asked: tuple[np.ndarray, object] | None = None

    def add(self, shingles: np.ndarray) -> int:
        """Adds a set and returns its number: 0, 1, 2, ..."""
        sketch = self._sketch(shingles)
        number = len(self.sets)
        if number == len(self.signatures):
            self.signatures = np.concatenate([self.signatures, np.empty_like(self.signatures)])
        self.signatures[number] = sketch.hashvalues
        self.sets.append(shingles)
        self.lsh.insert(number, sketch)
        return number

    def near(self, shingles: np.ndarray) -> list[tuple[int, float]]:
        """(number, exact Jaccard): every proposal at the threshold, and the likeliest proposal below it if there is none."""
        sketch = self._sketch(shingles)
        proposed = np.array(sorted(self.lsh.query(sketch)), np.int64)
        if not proposed.size:
            return []
        estimates = (self.signatures[proposed] == sketch.hashvalues).mean(axis=1)
        likely = proposed[estimates >= self.likely] if estimates.max() >= self.likely else proposed[[estimates.argmax()]]
        scored = list(zip(likely.tolist(), jaccards(shingles, [self.sets[n] for n in likely]).tolist(), strict=True))
        return [pair for pair in scored if pair[1] >= self.threshold] or [max(scored, key=lambda pair: pair[1])]

    def _sketch(self, shingles: np.ndarray) -> object:
        """The MinHash of a set; what `near` was just asked about is not hashed again when it is added."""
        if self.asked is None or self.asked[0] is not shingles:
            sketch = self.empty.copy()
            sketch.update_batch(shingles.tolist())
            self.asked = (shingles, sketch)
        return self.asked[1]


def bands(threshold: float, num_perm: int) -> tuple[int, int]:
    """(bands, rows): the most selective ones that still propose a pair at the threshold but for a share of MISSED; two bands at least."""
    fits = [rows for rows in range(1, num_perm // 2 + 1) if (1 - threshold**rows) ** (num_perm // rows) <= MISSED]
    rows = max(fits, default=1)
    return num_perm // rows, rows


def likely_from(threshold: float, num_perm: int) -> float:
    """The estimate by signature from which a proposal is confirmed exactly."""
    return threshold - _DEVIATIONS * (threshold * (1 - threshold) / num_perm) ** 0.5


class Components:
    """Connected components of what was joined (union-find); the smallest member stands for its component."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))

    def find(self, item: int) -> int:
        while self.parent[item] != item:
            self.parent[item] = self.parent[self.parent[item]]
            item = self.parent[item]
        return item

    def join(self, left: int, right: int) -> None:
        low, high = sorted((self.find(left), self.find(right)))
        self.parent[high] = low
