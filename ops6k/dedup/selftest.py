"""The check checked: copies of every problem of a benchmark in every disguise, and the problems against one another.

Needs the benchmark's source (a folder), which the repository does not hold; an index is made of it in memory.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k.dedup.against import Benchmarks
from ops6k.dedup.canonical import canonical
from ops6k.dedup.curves import Point, Query, points
from ops6k.dedup.index import Reference, Source, Trace, references_of, sources
from ops6k.dedup.rewrites import LIKELY
from ops6k.dedup.subject import Known, Subject
from ops6k.dedup.variants import SURE
from ops6k.params import DedupParams
from ops6k.records import Funnel, Match

NEEDED = dict.fromkeys(SURE, 1.0) | dict.fromkeys(LIKELY, 0.95)
"""Recall that each disguise must reach."""


@dataclass(frozen=True, slots=True)
class Recall:
    """How many copies in one disguise are rejected."""

    disguise: str
    copies: int
    caught: int
    channels: tuple[Funnel, ...]
    """By the surest channel that rejects."""
    missed: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return self.caught >= NEEDED[self.disguise] * self.copies


@dataclass(frozen=True, slots=True)
class Merged:
    """How many problems one rule takes for another problem of the same benchmark: its price."""

    rule: str
    level: int | None
    problems: int
    merged: int


@dataclass(frozen=True, slots=True)
class SelfTest:
    recalls: tuple[Recall, ...]
    merged: tuple[Merged, ...]
    points: tuple[Point, ...]
    """Each channel alone at each threshold, over the copies in all disguises."""

    @property
    def holds(self) -> bool:
        return all(recall.holds for recall in self.recalls)


def self_test(folder: Path, params: DedupParams, trace: Trace | None = None) -> SelfTest:
    """Recall per disguise and the price of every rule on a benchmark's folder.

    trace: as in build_index, for problems and copies alike (minutes); without it the source's dataflow stands in.
    Raises MissingInput where there is no task.
    """
    tasks = [task for task in sources(folder) if "@" not in task.name]
    references, _ = references_of(tasks, "self-test", trace)
    benchmarks = Benchmarks(references, params)
    names = {reference.name for reference in references}
    tasks = [task for task in tasks if task.name in names]
    copies = {name: _copies(disguise, tasks, trace) for name, disguise in (SURE | LIKELY).items()}
    recalls = tuple(_recall(name, made, benchmarks) for name, made in copies.items())
    problems = [Subject(r.name, (), task.code, r.aten) for r, task in zip(references, _in_order(tasks, references), strict=True)]
    numbers = {reference.name: number for number, reference in enumerate(references)}
    queries = [_query(copy, numbers) for made in copies.values() for copy in made]
    found = points(queries, [_query(problem, numbers) for problem in problems], references)
    return SelfTest(recalls, tuple(_merged(problems, references, params)), tuple(found))


def _in_order(tasks: Sequence[Source], references: Sequence[Reference]) -> list[Source]:
    named = {task.name: task for task in tasks}
    return [named[reference.name] for reference in references]


def _copies(disguise: Callable[[str], str], tasks: Sequence[Source], trace: Trace | None) -> list[Subject]:
    codes = [disguise(task.code) for task in tasks]
    # A resized copy need not run; what does not run has no trace, as in a real set it would have no verdict.
    aten = trace(codes) if trace else [None] * len(codes)
    return [Subject(task.name, (), code, operators) for task, code, operators in zip(tasks, codes, aten, strict=True)]


def _query(subject: Subject, numbers: dict[str, int]) -> Query:
    return Query(numbers[subject.candidate_id], canonical(subject.code), subject.aten)


def _recall(name: str, copies: Sequence[Subject], benchmarks: Benchmarks) -> Recall:
    rejecting = [_first_reason(benchmarks, copy) for copy in copies]
    channels = Counter(match.channel for match in rejecting if match)
    missed = tuple(copy.candidate_id for copy, match in zip(copies, rejecting, strict=True) if match is None)
    funnel = tuple(Funnel(channel, count) for channel, count in channels.most_common())
    return Recall(name, len(copies), len(copies) - len(missed), funnel, missed)


def _first_reason(benchmarks: Benchmarks, subject: Subject) -> Match | None:
    matches = benchmarks.matches(Known(subject, canonical(subject.code)))
    return next((match for match in matches if match.reason), None)


def _merged(problems: Sequence[Subject], references: Sequence[Reference], params: DedupParams) -> list[Merged]:
    """Per level: each rule of the decision, and all of them."""
    counts: Counter[tuple[str, int | None]] = Counter()
    for i, (subject, reference) in enumerate(zip(problems, references, strict=True)):
        others = [*references[:i], *references[i + 1 :]]
        if not others:
            continue
        matches = Benchmarks(others, params).matches(Known(subject, canonical(subject.code)))
        rules = {match.channel for match in matches if match.reason}
        counts.update((rule, reference.level) for rule in rules | ({"any"} if rules else set()))
    levels = Counter(reference.level for reference in references)
    return [
        Merged(rule, level, levels[level], counts[rule, level])
        for rule in ("canonical", "graph", "text", "any")
        for level in sorted(levels, key=str)
    ]
