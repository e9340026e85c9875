"""What a fuse stage wants of a candidate, and the one seam that the composer and the LLM client share.

Wanted number i depends on (mix, seed, i) alone, so that work can be sharded, resumed and repeated.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ops6k.params import MixParams
from ops6k.records import Candidate

K = TypeVar("K")

# Steps of three additive sequences: irrational and not related, so that depth, dtype and library fall independently, yet
# every run of n candidates holds its quota to within a few (a random draw would stray by sqrt(n)).
_DEPTH_STEP, _DTYPE_STEP, _LIBRARY_STEP = (math.sqrt(5) - 1) / 2, math.sqrt(2) - 1, math.sqrt(3) - 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """One candidate to be made."""

    index: int
    """Position in the run; candidates are ordered by it."""
    seed: int
    """The run's seed; (seed, index) settles every draw."""
    depth: int
    """Number of operators, 1 to 5."""
    dtype: str
    """float32, bfloat16 or float16."""
    with_transformers: bool
    """At least one operator from transformers, re-expressed."""
    operators: tuple[str, ...] = ()
    """Labels drawn beforehand; empty leaves the choice to the source."""


class Source(Protocol):
    """What proposes candidates. Yields in the order of `wanted`; one that cannot be had is left out."""

    def propose(self, wanted: Sequence[Wanted]) -> Iterator[Candidate]: ...


def wanted(mix: MixParams, seed: int, index: int) -> Wanted:
    """Number `index` of a run; any stretch of a run holds the mix's shares to within a few."""
    return Wanted(
        index=index,
        seed=seed,
        depth=_pick(mix.depth, place_in_run(seed, index, _DEPTH_STEP)),
        dtype=_pick(mix.dtype, place_in_run(seed, index, _DTYPE_STEP)),
        with_transformers=place_in_run(seed, index, _LIBRARY_STEP) < mix.transformers,
    )


def place_in_run(seed: int, index: int, step: float) -> float:
    """A number in [0, 1): the index-th of an additive sequence that starts where the seed says."""
    return ((seed * 0.7548776662466927) % 1 + (index + 1) * step) % 1


def _pick(shares: Mapping[K, float], place: float) -> K:
    """The key whose stretch of [0, 1) holds the place."""
    total = sum(shares.values())
    reached = 0.0
    for key, share in shares.items():
        reached += share / total
        if place < reached:
            return key
    return key
