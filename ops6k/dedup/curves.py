"""Precision and recall of each channel at each threshold, on copies of a benchmark's problems and the problems themselves.

What the decision table is chosen by. A channel alone decides nothing; decide.py combines them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ops6k.dedup.canonical import Canonical
from ops6k.dedup.index import Reference
from ops6k.dedup.neighbours import Exact, multiset, pairs_in_order
from ops6k.dedup.subject import folded

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)

CHANNELS = ("canonical", "graph", "text", "operators", "text+operators")
"""text+operators: the text's score where the operators are the same in dataflow order, else 0."""

_NOT_EQUAL = 0.99


@dataclass(frozen=True, slots=True)
class Query:
    """One copy or problem, as the channels see it."""

    original: int
    """Number of the reference that it copies (or is)."""
    form: Canonical
    aten: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Point:
    """One channel at one threshold."""

    channel: str
    threshold: float
    copies: int
    caught: int
    """Copies like their original."""
    problems: int
    merged: int
    """Problems like another problem: its authors hold them apart."""

    @property
    def recall(self) -> float:
        return self.caught / self.copies

    @property
    def precision(self) -> float | None:
        """Share of copies among what is caught, were copies and new tasks equally many; None where nothing is caught."""
        wrong = self.merged / self.problems
        return self.recall / (self.recall + wrong) if self.recall + wrong else None


def points(copies: Sequence[Query], problems: Sequence[Query], references: Sequence[Reference]) -> list[Point]:
    """Every channel at every threshold. copies and problems must not be empty."""
    channels = _Channels(references)
    own: dict[str, list[float]] = {channel: [] for channel in CHANNELS}
    others: dict[str, list[float]] = {channel: [] for channel in CHANNELS}
    for query in copies:
        for channel, scores in channels.scores(query).items():
            own[channel].append(scores[query.original])
    for query in problems:
        for channel, scores in channels.scores(query).items():
            others[channel].append(np.delete(scores, query.original).max(initial=0.0))
    return [
        Point(
            channel,
            threshold,
            len(copies),
            sum(score >= threshold for score in own[channel]),
            len(problems),
            sum(score >= threshold for score in others[channel]),
        )
        for channel in CHANNELS
        for threshold in THRESHOLDS
    ]


class _Channels:
    def __init__(self, references: Sequence[Reference]) -> None:
        self.references = references
        self.text = Exact([np.array(r.shingles, np.uint32) for r in references])
        self.operators = Exact([multiset(r.operators) for r in references])
        self.sequences = Exact([pairs_in_order(r.aten or r.operators) for r in references])

    def scores(self, query: Query) -> dict[str, np.ndarray]:
        """Per channel the score with each reference, (N,) float64."""
        form, references = query.form, self.references
        aten = folded(query.aten) if query.aten else None
        text = self.text.scores(form.shingles)
        equal = np.array([bool(aten and r.aten == aten) or bool(form.flow and r.flow == form.flow) for r in references])
        alike = np.minimum(self.sequences.scores(pairs_in_order(aten or form.operators)), _NOT_EQUAL)
        ordered = np.array([r.operators == form.operators for r in references])
        return {
            "canonical": np.array([float(r.canonical == form.digest) for r in references]),
            "graph": np.where(equal, 1.0, alike),
            "text": text,
            "operators": self.operators.scores(multiset(form.operators)),
            "text+operators": np.where(ordered, text, 0.0),
        }
