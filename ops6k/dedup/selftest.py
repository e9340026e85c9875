"""The check checked: copies of every problem of a benchmark in every disguise, and the problems against one another.

Needs the benchmark's source (a folder), which the repository does not hold; an index is made of it in memory.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ops6k.dedup.against import Benchmarks
from ops6k.dedup.canonical import canonical
from ops6k.dedup.index import Reference, Source, Trace, references_of, sources
from ops6k.dedup.neighbours import Exact
from ops6k.dedup.rewrites import LIKELY
from ops6k.dedup.subject import Known, Subject
from ops6k.dedup.variants import SURE
from ops6k.params import DedupParams
from ops6k.records import Funnel, Match

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)

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
    recalls = tuple(_recall(name, disguise, tasks, benchmarks, trace) for name, disguise in (SURE | LIKELY).items())
    return SelfTest(recalls, tuple(_merged(tasks, references, params)))


def _recall(
    name: str, disguise: Callable[[str], str], tasks: Sequence[Source], benchmarks: Benchmarks, trace: Trace | None
) -> Recall:
    codes = [disguise(task.code) for task in tasks]
    # A resized copy need not run; what does not run has no trace, as in a real set it would have no verdict.
    aten = trace(codes) if trace else [None] * len(codes)
    rejecting = [
        _first_reason(benchmarks, Subject(task.name, (), code, operators))
        for task, code, operators in zip(tasks, codes, aten, strict=True)
    ]
    channels = Counter(match.channel for match in rejecting if match)
    missed = tuple(task.name for task, match in zip(tasks, rejecting, strict=True) if match is None)
    funnel = tuple(Funnel(channel, count) for channel, count in channels.most_common())
    return Recall(name, len(tasks), len(tasks) - len(missed), funnel, missed)


def _first_reason(benchmarks: Benchmarks, subject: Subject) -> Match | None:
    matches = benchmarks.matches(Known(subject, canonical(subject.code)))
    return next((match for match in matches if match.reason), None)


def _merged(tasks: Sequence[Source], references: Sequence[Reference], params: DedupParams) -> list[Merged]:
    """Per level: each rule of the decision, then text alone at several thresholds."""
    counts: Counter[tuple[str, int | None]] = Counter()
    codes = {task.name: task.code for task in tasks}
    for i, reference in enumerate(references):
        others = Benchmarks([*references[:i], *references[i + 1 :]], params)
        subject = Subject(reference.name, (), codes[reference.name], reference.aten)
        rules = {match.channel for match in others.matches(Known(subject, canonical(subject.code))) if match.reason}
        for rule in rules | ({"any"} if rules else set()):
            counts[rule, reference.level] += 1
    counts.update(_merged_by_text(references))
    levels = Counter(reference.level for reference in references)
    rules = ["canonical", "graph", "text", "any", *(f"text alone at {threshold}" for threshold in THRESHOLDS)]
    return [Merged(rule, level, levels[level], counts[rule, level]) for rule in rules for level in sorted(levels, key=str)]


def _merged_by_text(references: Sequence[Reference]) -> Counter[tuple[str, int | None]]:
    sets = [np.array(reference.shingles, np.uint32) for reference in references]
    exact = Exact(sets)
    counts: Counter[tuple[str, int | None]] = Counter()
    for i, reference in enumerate(references):
        scores = exact.scores(sets[i])
        scores[i] = 0.0
        counts.update((f"text alone at {threshold}", reference.level) for threshold in THRESHOLDS if scores.max() >= threshold)
    return counts


def table(tested: SelfTest) -> list[dict[str, object]]:
    """Rows for a person: recalls first, then prices."""
    rows = [
        {"disguise": r.disguise, "copies": r.copies, "caught": r.caught, "recall": r.caught / r.copies} for r in tested.recalls
    ]
    return rows + [dataclasses.asdict(merged) for merged in tested.merged]
