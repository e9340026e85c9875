"""A task against the references of all benchmarks, exactly: one nearest per channel. Sizes and attributes never count."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from ops6k.dedup.index import Reference
from ops6k.dedup.neighbours import Exact, multiset, pairs_in_order
from ops6k.dedup.subject import Known, signature, steps, traces_agree
from ops6k.params import DedupParams
from ops6k.records import Match, Reason

SHORTEST_CONTAINED = 3
_NOT_EQUAL = 0.99
"""Largest score of sequences that are alike but not equal."""


class Benchmarks:
    """References, ready to be compared with."""

    def __init__(self, references: Sequence[Reference], params: DedupParams) -> None:
        self.references, self.params = references, params
        self.text = Exact([np.array(r.shingles, np.uint32) for r in references])
        self.operators = Exact([multiset(r.operators) for r in references])
        self.aten = [steps(r.aten) if r.aten else () for r in references]
        self.sequences = Exact([pairs_in_order(aten) for aten in self.aten])
        self.by_canonical = _first(references, lambda r: r.canonical)
        self.by_aten: dict[tuple | None, int] = {}
        self.any_arguments: dict[tuple | None, int] = {}
        self.by_flow: dict[str | None, list[int]] = defaultdict(list)
        self.contained: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, reference in enumerate(references):
            self.by_flow[reference.flow].append(number)
            aten = self.aten[number]
            self.by_aten.setdefault(signature(aten, reference.arguments), number)
            self.any_arguments.setdefault(aten or None, number)
            if len(aten) >= SHORTEST_CONTAINED:
                self.contained[aten[:SHORTEST_CONTAINED]].append(number)

    def matches(self, known: Known) -> list[Match]:
        """The surest first. A task whose source is no Python is like none by text and by operators."""
        found = [self._graph(known), self._contains(known)]
        if known.form:
            found = [self._canonical(known), found[0], self._text(known), found[1], self._operators(known)]
        return [match for match in found if match]

    def _match(self, known: Known, channel: str, number: int, score: float, same: bool) -> Match:
        reference = self.references[number]
        reason = Reason.BENCHMARK if same and self.params.rules[f"benchmark/{channel}"] == "reject" else None
        return Match(
            known.subject.candidate_id, channel, round(score, 4), reference.name, reference.benchmark, reference.level, reason
        )

    def _canonical(self, known: Known) -> Match | None:
        number = self.by_canonical.get(known.form.digest)
        return None if number is None else self._match(known, "canonical", number, 1.0, True)

    def _graph(self, known: Known) -> Match | None:
        """Equal, or the nearest by neighbouring pairs of ATen operators."""
        aten = known.aten
        number = self.by_aten.get(signature(aten, known.arguments)) if aten else None
        if number is None and aten:  # an index may not know how many arguments a problem takes; a task may take any number
            number = self.any_arguments.get(aten) if known.arguments is None else self.by_aten.get(signature(aten, None))
        if number is None and known.form and known.form.flow:
            same = (n for n in self.by_flow.get(known.form.flow, ()) if traces_agree(aten, self.aten[n]))
            number = next(same, None)
        if number is not None:
            return self._match(known, "graph", number, 1.0, True)
        scores = self.sequences.scores(pairs_in_order(aten or ()))
        nearest = int(scores.argmax())
        return self._match(known, "graph", nearest, min(scores[nearest], _NOT_EQUAL), False) if scores[nearest] > 0 else None

    def _text(self, known: Known) -> Match:
        scores = self.text.scores(known.form.shingles)
        near = [n for n in np.flatnonzero(scores >= self.params.jaccard) if self.references[n].operators == known.form.operators]
        nearest = int(max(near, key=lambda n: scores[n], default=scores.argmax()))
        return self._match(known, "text", nearest, scores[nearest], bool(near))

    def _operators(self, known: Known) -> Match:
        scores = self.operators.scores(multiset(known.form.operators))
        nearest = int(scores.argmax())
        return self._match(known, "operators", nearest, scores[nearest], scores[nearest] == 1.0)

    def _contains(self, known: Known) -> Match | None:
        """The longest reference that stands in the task in one piece."""
        aten = known.aten or ()
        inside = [
            number
            for start in range(len(aten) - SHORTEST_CONTAINED + 1)
            for number in self.contained.get(aten[start : start + SHORTEST_CONTAINED], ())
            if aten[start : start + len(self.aten[number])] == self.aten[number]
        ]
        if not inside:
            return None
        longest = max(inside, key=lambda n: (len(self.aten[n]), -n))
        return self._match(known, "contains", longest, len(self.aten[longest]) / len(aten), True)


def _first(references: Sequence[Reference], value: Callable[[Reference], object]) -> dict[object, int]:
    found: dict[object, int] = {}
    for number, reference in enumerate(references):
        if (known := value(reference)) is not None:
            found.setdefault(known, number)
    return found
