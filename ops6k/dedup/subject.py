"""One accepted task, and what it is compared by."""

from dataclasses import dataclass

from ops6k.dedup.canonical import Canonical


@dataclass(frozen=True, slots=True)
class Subject:
    """One accepted task."""

    candidate_id: str
    ops: tuple[str, ...]
    code: str
    aten: tuple[str, ...] | None
    """ATen operators of its dry run (Verdict.work.operators)."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A subject with what it is compared by."""

    subject: Subject
    form: Canonical | None


def traces_agree(left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> bool:
    """True where one was never traced, or where both use the same operators: a loop over time is unrolled, size by size."""
    return not left or not right or set(left) == set(right)
