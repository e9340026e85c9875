"""Which accepted tasks copy a benchmark's problem or one another. Pure: records in, records out.

Channels, the surest first:
  exact      the same bytes (inside the set)
  canonical  the same canonical form (canonical.py)
  graph      the same ATen operators in dataflow order; or the same source dataflow (flow.py), unless the dry runs disagree;
             inside the set the sources must not show other operators or another wiring
  text       Jaccard similarity of canonical 5-grams at the threshold and the same operators in dataflow order: text alone
             takes 34 of KernelBench's 250 problems of levels 1-3 for another at 0.9
  contains   a reference's three or more ATen operators stand in the task's in one piece
  operators  the multiset of operators
Sizes and attributes never count against a benchmark. Inside the set another class of sizes is another task up to a depth.
What rejects and what only flags is a table in params.yaml.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from ops6k.dedup.against import Benchmarks
from ops6k.dedup.canonical import Canonical, canonical
from ops6k.dedup.examples import EXAMPLES
from ops6k.dedup.index import Reference
from ops6k.dedup.inside import Kept
from ops6k.dedup.neighbours import Components
from ops6k.dedup.subject import Known, Subject
from ops6k.params import DedupParams
from ops6k.progress import Tracker
from ops6k.records import Match

__all__ = ["Comparing", "Comparison", "Subject", "compare", "decide", "rejections"]


_MANY = 1500
"""From so many sources on the start of processes pays."""
_MOST_PROCESSES = 8


@dataclass(frozen=True, slots=True)
class Comparison:
    matches: list[Match]
    """The nearest per channel, and all that rejects; the rejecting ones carry a reason."""
    clusters: list[str]
    """Per subject: candidate_id of the first of its cluster (connected by confirmed near pairs)."""


def decide(tasks: Sequence[Subject], references: Sequence[Reference], params: DedupParams) -> list[Match]:
    """Matches of tasks in order (earlier ones win): the nearest per channel, and every one that rejects."""
    return compare(tasks, references, params).matches


def compare(
    tasks: Sequence[Subject], references: Sequence[Reference], params: DedupParams, progress: Tracker | None = None
) -> Comparison:
    """As `decide`, with clusters."""
    comparing, components = Comparing(references, params), Components(len(tasks))
    matches: list[Match] = []
    for number, (subject, form) in enumerate(zip(tasks, canonical_forms([task.code for task in tasks]), strict=True)):
        found, pairs = comparing.next(Known(subject, form), number)
        for other in pairs:
            components.join(number, other)
        matches += found
        if progress:
            progress.advance()
    return Comparison(matches, [tasks[components.find(i)].candidate_id for i in range(len(tasks))])


class Comparing:
    """Tasks one by one, each with the references and with those before it that stand."""

    def __init__(self, references: Sequence[Reference], params: DedupParams) -> None:
        shown = [r for r in references if r.benchmark == EXAMPLES]
        self.benchmarks = Benchmarks([r for r in references if r.benchmark != EXAMPLES], params)
        self.examples = Benchmarks(shown, params) if shown else None
        self.kept = Kept(params)

    def next(self, known: Known, number: int) -> tuple[list[Match], list[int]]:
        """Its matches, and the numbers of the tasks that it shares a cluster with. It stands itself where no match rejects."""
        against = self.benchmarks.matches(known)
        against += [match for match in self.examples.matches(known) if match.reason] if self.examples else []
        inside, pairs = self.kept.matches(known, contaminated=any(match.reason for match in against))
        if not any(match.reason for match in (*against, *inside)):
            self.kept.add(known, number)
        return [*against, *inside], pairs


def canonical_forms(codes: Sequence[str]) -> Iterator[Canonical | None]:
    """The canonical form of each source, in order; of many on all cores: most of the time goes into them."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(codes) < _MANY or cores == 1:
        yield from map(canonical, codes)
        return
    # Spawned, not forked: whoever runs the stage may have threads (torch, Prefect).
    with ProcessPoolExecutor(min(cores, _MOST_PROCESSES), mp_context=get_context("spawn")) as pool:
        yield from pool.map(canonical, codes, chunksize=64)


def rejections(matches: Iterable[Match]) -> dict[str, Match]:
    """candidate_id to the first match that rejects it."""
    found: dict[str, Match] = {}
    for match in matches:
        if match.reason is not None:
            found.setdefault(match.candidate_id, match)
    return found
