"""Which accepted tasks copy a benchmark's problem or one another. Pure: records in, records out.

Channels, the surest first:
  exact      the same bytes (inside the set)
  canonical  the same canonical form (canonical.py)
  graph      the same ATen operators in dataflow order; or the same source dataflow (flow.py), unless the dry runs disagree;
             inside the set the sources must not show other operators or another wiring
  text       Jaccard similarity of canonical 5-grams at the threshold and the same operators in dataflow order: text alone
             merges 15 % of KernelBench's distinct problems at 0.9
  contains   a reference's three or more ATen operators stand in the task's in one piece
  operators  the multiset of operators
Sizes and attributes never count against a benchmark. Inside the set another class of sizes is another task up to a depth.
What rejects and what only flags is a table in params.yaml.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ops6k.dedup.canonical import Canonical, canonical
from ops6k.dedup.index import Reference
from ops6k.dedup.neighbours import Components, Exact, Growing, multiset, pairs_in_order
from ops6k.params import DedupParams
from ops6k.progress import Tracker
from ops6k.records import Match, Reason, task_id

SHORTEST_CONTAINED = 3
_NOT_EQUAL = 0.99
"""Largest score of sequences that are alike but not equal."""

# Attributes (kernel sizes, axes, strides) lie below; what is larger is a size.
_LARGEST_ATTRIBUTE = 16


@dataclass(frozen=True, slots=True)
class Subject:
    """One accepted task."""

    candidate_id: str
    ops: tuple[str, ...]
    code: str
    aten: tuple[str, ...] | None
    """ATen operators of its dry run (Verdict.work.operators)."""


@dataclass(frozen=True, slots=True)
class Comparison:
    matches: list[Match]
    """The nearest per channel, and all that rejects; the rejecting ones carry a reason."""
    clusters: list[str]
    """Per subject: candidate_id of the first of its cluster (connected by confirmed near pairs)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """A subject with what it is compared by."""

    subject: Subject
    form: Canonical | None


def decide(tasks: Sequence[Subject], references: Sequence[Reference], params: DedupParams) -> list[Match]:
    """Matches of tasks in order (earlier ones win): the nearest per channel, and every one that rejects."""
    return compare(tasks, references, params).matches


def compare(
    tasks: Sequence[Subject], references: Sequence[Reference], params: DedupParams, progress: Tracker | None = None
) -> Comparison:
    """As `decide`, with clusters."""
    benchmarks, kept = Benchmarks(references, params), _Kept(params)
    components = Components(len(tasks))
    matches: list[Match] = []
    for number, subject in enumerate(tasks):
        known = _Known(subject, canonical(subject.code))
        against = benchmarks.matches(known)
        inside, pairs = kept.matches(known, contaminated=any(match.reason for match in against))
        for other in pairs:
            components.join(number, other)
        if not any(match.reason for match in (*against, *inside)):
            kept.add(known, number)
        matches += [*against, *inside]
        if progress:
            progress.advance()
    return Comparison(matches, [tasks[components.find(i)].candidate_id for i in range(len(tasks))])


def rejections(matches: Iterable[Match]) -> dict[str, Match]:
    """candidate_id to the first match that rejects it."""
    found: dict[str, Match] = {}
    for match in matches:
        if match.reason is not None:
            found.setdefault(match.candidate_id, match)
    return found


class Benchmarks:
    """References, ready to be compared with."""

    def __init__(self, references: Sequence[Reference], params: DedupParams) -> None:
        self.references, self.params = references, params
        self.text = Exact([np.array(r.shingles, np.uint32) for r in references])
        self.operators = Exact([multiset(r.operators) for r in references])
        self.sequences = Exact([pairs_in_order(r.aten or ()) for r in references])
        self.by_canonical = _first(references, lambda r: r.canonical)
        self.by_aten = _first(references, lambda r: r.aten or None)
        self.by_flow: dict[str | None, list[int]] = defaultdict(list)
        self.contained: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, reference in enumerate(references):
            self.by_flow[reference.flow].append(number)
            if len(reference.aten or ()) >= SHORTEST_CONTAINED:
                self.contained[reference.aten[:SHORTEST_CONTAINED]].append(number)

    def matches(self, known: _Known) -> list[Match]:
        """The surest first. A task whose source is no Python is like none by text and by operators."""
        found = [self._graph(known), self._contains(known)]
        if known.form:
            found = [self._canonical(known), found[0], self._text(known), found[1], self._operators(known)]
        return [match for match in found if match]

    def _match(self, known: _Known, channel: str, number: int, score: float, same: bool) -> Match:
        reference = self.references[number]
        reason = Reason.BENCHMARK if same and self.params.rules[f"benchmark/{channel}"] == "reject" else None
        return Match(
            known.subject.candidate_id, channel, round(score, 4), reference.name, reference.benchmark, reference.level, reason
        )

    def _canonical(self, known: _Known) -> Match | None:
        number = self.by_canonical.get(known.form.digest)
        return None if number is None else self._match(known, "canonical", number, 1.0, True)

    def _graph(self, known: _Known) -> Match | None:
        """Equal, or the nearest by neighbouring pairs of ATen operators."""
        aten = known.subject.aten
        number = self.by_aten.get(aten)
        if number is None and known.form and known.form.flow:
            same = (n for n in self.by_flow.get(known.form.flow, ()) if _traces_agree(aten, self.references[n].aten))
            number = next(same, None)
        if number is not None:
            return self._match(known, "graph", number, 1.0, True)
        scores = self.sequences.scores(pairs_in_order(aten or ()))
        nearest = int(scores.argmax())
        return self._match(known, "graph", nearest, min(scores[nearest], _NOT_EQUAL), False) if scores[nearest] > 0 else None

    def _text(self, known: _Known) -> Match:
        scores = self.text.scores(known.form.shingles)
        near = [n for n in np.flatnonzero(scores >= self.params.jaccard) if self.references[n].operators == known.form.operators]
        nearest = int(max(near, key=lambda n: scores[n], default=scores.argmax()))
        return self._match(known, "text", nearest, scores[nearest], bool(near))

    def _operators(self, known: _Known) -> Match:
        scores = self.operators.scores(multiset(known.form.operators))
        nearest = int(scores.argmax())
        return self._match(known, "operators", nearest, scores[nearest], scores[nearest] == 1.0)

    def _contains(self, known: _Known) -> Match | None:
        """The longest reference that stands in the task in one piece."""
        aten = known.subject.aten or ()
        inside = [
            number
            for start in range(len(aten) - SHORTEST_CONTAINED + 1)
            for number in self.contained.get(aten[start : start + SHORTEST_CONTAINED], ())
            if aten[start : start + len(self.references[number].aten)] == self.references[number].aten
        ]
        if not inside:
            return None
        longest = max(inside, key=lambda n: (len(self.references[n].aten), -n))
        return self._match(known, "contains", longest, len(self.references[longest].aten) / len(aten), True)


class _Kept:
    """Tasks of the set that stand so far."""

    def __init__(self, params: DedupParams) -> None:
        self.params = params
        self.known: list[_Known] = []
        self.numbers: list[int] = []
        self.texts = Growing(params.jaccard, params.num_perm, params.seed)
        self.with_text: list[int] = []
        self.by: dict[str, dict[object, list[int]]] = {
            channel: defaultdict(list) for channel in ("exact", "canonical", "aten", "flow")
        }

    def add(self, known: _Known, number: int) -> None:
        place = len(self.known)
        self.known.append(known)
        self.numbers.append(number)
        for channel, value in self._keys(known).items():
            if value:
                self.by[channel][value].append(place)
        if known.form:
            self.texts.add(known.form.shingles)
            self.with_text.append(place)

    def _keys(self, known: _Known) -> dict[str, object]:
        form = known.form
        keys = {"exact": task_id(known.subject.code), "aten": known.subject.aten}
        return keys | {"canonical": form.digest, "flow": form.flow} if form else keys

    def matches(self, known: _Known, contaminated: bool) -> tuple[list[Match], list[int]]:
        """Its matches in the set, and the numbers of the tasks that it shares a cluster with."""
        found: list[Match] = []
        pairs: dict[int, None] = {}
        rejected = contaminated
        for channel, place, score, near in self._near(known):
            same = near and (channel == "exact" or not self._another_size(known, self.known[place]))
            rejects = same and not rejected and self.params.rules[f"set/{channel}"] == "reject"
            rejected = rejected or rejects
            reason = (Reason.EXACT if channel == "exact" else Reason.NEAR) if rejects else None
            other = self.known[place].subject.candidate_id
            match = Match(known.subject.candidate_id, channel, round(score, 4), other, None, None, reason)
            # One row a channel: the one that rejects, else the first.
            if not any(m.channel == channel and (m.reason or not reason) for m in found):
                found = [m for m in found if m.channel != channel] + [match]
            if near:
                pairs[self.numbers[place]] = None
        return found, list(pairs)

    def _near(self, known: _Known) -> list[tuple[str, int, float, bool]]:
        """(channel, place, score, near) of the neighbours, the surest channel first."""
        keys = self._keys(known)
        found = [
            (channel, place, 1.0, True)
            for channel in ("exact", "canonical")
            for place in self.by[channel].get(keys.get(channel), ())
        ]
        found += [("graph", place, 1.0, True) for place in self._same_graph(known, keys)]
        if known.form:
            texts = [(self.with_text[number], score) for number, score in self.texts.near(known.form.shingles)]
            found += [
                ("text", place, score, self._same_text(known, place, score))
                for place, score in sorted(texts, key=lambda t: -t[1])
            ]
        return found

    def _same_graph(self, known: _Known, keys: dict[str, object]) -> list[int]:
        by_aten = [p for p in self.by["aten"].get(keys["aten"], ()) if _may_be_one_graph(self.known[p].form, known.form)]
        by_flow = self.by["flow"].get(keys.get("flow"), ())
        return by_aten + [p for p in by_flow if p not in by_aten and _traces_agree(keys["aten"], self.known[p].subject.aten)]

    def _same_text(self, known: _Known, place: int, score: float) -> bool:
        return score >= self.params.jaccard and self.known[place].form.operators == known.form.operators

    def _another_size(self, left: _Known, right: _Known) -> bool:
        """Few operators, and a size or attribute of another class: then it is another task."""
        depth = max(len(left.subject.ops), len(right.subject.ops))
        if depth > self.params.sized_depth or not left.form or not right.form:
            return False
        return another_class(left.form.numbers, right.form.numbers, self.params.size_factor)


def another_class(left: Sequence[float], right: Sequence[float], factor: float) -> bool:
    """True where an attribute differs, or a size by more than the factor. Numbers that do not pair up prove nothing: False."""
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        small, large = sorted((abs(one), abs(other)))
        is_size = small >= _LARGEST_ATTRIBUTE and small % 1 == 0 and large % 1 == 0
        if large > factor * small if is_size else one != other:
            return True
    return False


def _may_be_one_graph(left: Canonical | None, right: Canonical | None) -> bool:
    """False where the sources show that equal ATen sequences hide other operators or another wiring (a residual)."""
    if left is None or right is None:
        return True
    if left.flow and right.flow:
        return left.flow == right.flow
    return sorted(left.operators) == sorted(right.operators)


def _traces_agree(left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> bool:
    """True where one was never traced, or where both use the same operators: a loop over time is unrolled, size by size."""
    return not left or not right or set(left) == set(right)


def _first(references: Sequence[Reference], value: object) -> dict[object, int]:
    found: dict[object, int] = {}
    for number, reference in enumerate(references):
        if (known := value(reference)) is not None:
            found.setdefault(known, number)
    return found
