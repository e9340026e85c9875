"""What one task is like: its nearest references with a score per channel, and its canonical form beside another's."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ops6k.dedup.canonical import canonical
from ops6k.dedup.index import Reference
from ops6k.dedup.neighbours import Exact, multiset, pairs_in_order
from ops6k.dedup.subject import steps


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One reference and how alike it is, 0-1 in each channel."""

    reference: str
    benchmark: str
    level: int | None
    canonical: bool
    """The canonical forms are equal."""
    graph: float
    """1.0: the same ATen operators in dataflow order, or the same source dataflow; else Jaccard of neighbouring pairs."""
    text: float
    """Exact Jaccard of canonical 5-grams."""
    operators: float
    """Jaccard of the multisets of operators."""

    @property
    def likeness(self) -> tuple[bool, float, float]:
        """The order of nearness: equal forms first, then the best single channel, then their sum."""
        scores = (self.graph, self.text, self.operators)
        return self.canonical, max(scores), sum(scores)


def nearest(code: str, aten: tuple[str, ...] | None, references: Sequence[Reference], count: int = 5) -> list[Neighbour]:
    """The `count` references most like a task, the nearest first. A source that is no Python is judged by aten alone."""
    form = canonical(code)
    aten = steps(aten) if aten else None
    theirs = [steps(r.aten) if r.aten else () for r in references]
    shingles = form.shingles if form else np.empty(0, np.uint32)
    text = Exact([np.array(r.shingles, np.uint32) for r in references]).scores(shingles)
    operators = Exact([multiset(r.operators) for r in references]).scores(multiset(form.operators if form else ()))
    graph = Exact([pairs_in_order(one) for one in theirs]).scores(pairs_in_order(aten or ()))
    found = [
        Neighbour(
            r.name,
            r.benchmark,
            r.level,
            canonical=form is not None and r.canonical == form.digest,
            graph=1.0 if (aten and theirs[i] == aten) or _same_flow(r, form.flow if form else None) else float(graph[i]),
            text=float(text[i]),
            operators=float(operators[i]),
        )
        for i, r in enumerate(references)
    ]
    return sorted(found, key=lambda n: n.likeness, reverse=True)[:count]


def side_by_side(left: str, right: str) -> list[tuple[str, str, bool]]:
    """(left line, right line, equal) of the canonical forms of two sources; what has no counterpart faces an empty line."""
    forms = [canonical(code) for code in (left, right)]
    one, other = (form.text.splitlines() if form else ["(no Python)"] for form in forms)
    rows: list[tuple[str, str, bool]] = []
    for kind, i0, i1, j0, j1 in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for k in range(max(i1 - i0, j1 - j0)):
            rows.append((one[i0 + k] if i0 + k < i1 else "", other[j0 + k] if j0 + k < j1 else "", kind == "equal"))
    return rows


def _same_flow(reference: Reference, flow: str | None) -> bool:
    return bool(flow and reference.flow == flow)
