"""One accepted task, and what it is compared by."""

from dataclasses import dataclass, field

from ops6k.dedup.canonical import Canonical

LONGEST_UNFOLDED = 128
"""Only recurrences unrolled over time and very deep models have more ATen operators; the limit keeps mish(mish(x)) as it is."""

_LONGEST_STEP = 64


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
    aten: tuple[str, ...] | None = field(init=False)
    """Folded."""

    def __post_init__(self) -> None:
        aten = self.subject.aten
        object.__setattr__(self, "aten", folded(aten) if aten else None)


def folded(aten: tuple[str, ...]) -> tuple[str, ...]:
    """A long sequence with each step that repeats at once kept once: a recurrence is the same over 10 steps and over 512.

    Steps of up to 64 operators are seen. A GRU of KernelBench has 86,036 operators unfolded, a dozen folded.
    """
    if len(aten) <= LONGEST_UNFOLDED:
        return aten
    kept: list[str] = []
    for name in aten:
        kept.append(name)
        for step in range(1, min(_LONGEST_STEP, len(kept) // 2) + 1):
            if kept[-1 - step] == name and kept[-step:] == kept[-2 * step : -step]:
                del kept[-step:]
                break
    return tuple(kept)


def traces_agree(left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> bool:
    """True where one was never traced, or where both use the same operators: a loop over time is unrolled, size by size."""
    return not left or not right or set(left) == set(right)
