"""One accepted task, and what it is compared by."""

import ast
from dataclasses import dataclass, field

from ops6k.dedup.canonical import Canonical

SHORT_SEQUENCE = 2
"""So few ATen operators say little alone: x * mask and x * weight, both summed up along an axis, are two tasks. There the
number of forward's arguments must be equal too."""

LONGEST_UNFOLDED = 128
"""Only recurrences unrolled over time and very deep models have more ATen operators; the limit keeps mish(mish(x)) as it is."""

_LONGEST_STEP = 64

_MOVES = frozenset(("clone", "copy", "_to_copy"))
"""Another layout, place or type of the same values."""

_SPELT = {
    "addmm": ("mm", "add"),
    "baddbmm": ("bmm", "add"),
    "addmv": ("mv", "add"),
    "silu": ("sigmoid", "mul"),
    "mish": ("softplus", "tanh", "mul"),
    "hardswish": ("hardsigmoid", "mul"),
    "clamp_min": ("relu",),
    "threshold": ("relu",),
    "hardtanh": ("clamp",),
    "amax": ("max",),
    "amin": ("min",),
    "rsub": ("sub",),
}
"""ATen operators that say in one word, or in another, what these say. Bounds and thresholds do not count, as no attribute does."""


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
    """As `steps` has them."""
    arguments: int | None = field(init=False)
    """Of forward; only looked for where the operators are few enough for it to count."""

    def __post_init__(self) -> None:
        aten = self.subject.aten and steps(self.subject.aten)
        is_short = bool(aten) and len(aten) <= SHORT_SEQUENCE
        object.__setattr__(self, "aten", aten or None)
        object.__setattr__(self, "arguments", arguments(self.subject.code) if is_short else None)


def signature(aten: tuple[str, ...] | None, code_arguments: int | None) -> tuple | None:
    """What two tasks of one ATen graph share; None without a dry run."""
    if not aten:
        return None
    return (aten, code_arguments) if len(aten) <= SHORT_SEQUENCE else (aten, None)


def arguments(code: str) -> int | None:
    """How many tensors Model.forward may be given; None where there is no such method, or it takes any number.

    An argument whose default is a name (`fn=forward_fn`, as robust-kbench writes it) is no tensor.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    models = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    models = [node for node in models if node.name == "Model"] or models[-1:]
    forward = next((m for c in models for m in c.body if isinstance(m, ast.FunctionDef) and m.name == "forward"), None)
    if forward is None or forward.args.vararg is not None:
        return None
    named = sum(isinstance(default, ast.Name) for default in forward.args.defaults)
    return len(forward.args.posonlyargs) + len(forward.args.args) - 1 - named


def steps(aten: tuple[str, ...]) -> tuple[str, ...]:
    """ATen operators as they are compared: in place or not is one, moves of memory are none, one spelling each, folded."""
    plain = (name if name.startswith("__") else name.rstrip("_") for name in aten)
    return folded(tuple(part for name in plain if name not in _MOVES for part in _SPELT.get(name, (name,))))


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
