"""A task against the tasks of the set that stand so far: equal ones by hash, near ones by MinHash and exact Jaccard."""

from collections import defaultdict
from collections.abc import Sequence

from ops6k.dedup.canonical import Canonical
from ops6k.dedup.neighbours import Growing
from ops6k.dedup.subject import Known, traces_agree
from ops6k.params import DedupParams
from ops6k.records import Match, Reason, task_id

# Attributes (kernel sizes, axes, strides) lie below; what is larger is a size.
_LARGEST_ATTRIBUTE = 16


class Kept:
    """Tasks of the set that stand so far."""

    def __init__(self, params: DedupParams) -> None:
        self.params = params
        self.known: list[Known] = []
        self.numbers: list[int] = []
        self.texts = Growing(params.jaccard, params.num_perm, params.seed)
        self.with_text: list[int] = []
        self.by: dict[str, dict[object, list[int]]] = {
            channel: defaultdict(list) for channel in ("exact", "canonical", "aten", "flow")
        }

    def add(self, known: Known, number: int) -> None:
        place = len(self.known)
        self.known.append(known)
        self.numbers.append(number)
        for channel, value in self._keys(known).items():
            if value:
                self.by[channel][value].append(place)
        if known.form:
            self.texts.add(known.form.shingles)
            self.with_text.append(place)

    def _keys(self, known: Known) -> dict[str, object]:
        form = known.form
        keys = {"exact": task_id(known.subject.code), "aten": known.aten}
        return keys | {"canonical": form.digest, "flow": form.flow} if form else keys

    def matches(self, known: Known, contaminated: bool) -> tuple[list[Match], list[int]]:
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

    def _near(self, known: Known) -> list[tuple[str, int, float, bool]]:
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

    def _same_graph(self, known: Known, keys: dict[str, object]) -> list[int]:
        by_aten = [p for p in self.by["aten"].get(keys["aten"], ()) if _may_be_one_graph(self.known[p].form, known.form)]
        by_flow = self.by["flow"].get(keys.get("flow"), ())
        return by_aten + [p for p in by_flow if p not in by_aten and traces_agree(keys["aten"], self.known[p].aten)]

    def _same_text(self, known: Known, place: int, score: float) -> bool:
        return score >= self.params.jaccard and self.known[place].form.operators == known.form.operators

    def _another_size(self, left: Known, right: Known) -> bool:
        """Few operators, and a mode, a size or an attribute of another class: then it is another task."""
        depth = max(len(left.subject.ops), len(right.subject.ops))
        if depth > self.params.sized_depth or not left.form or not right.form:
            return False
        return left.form.words != right.form.words or another_class(
            left.form.numbers, right.form.numbers, self.params.size_factor
        )


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
