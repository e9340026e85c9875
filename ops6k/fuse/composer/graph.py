"""The composer's intermediate form of a task: sizes, inputs, members, steps.

Texts in it are Python with placeholder names, s_0 for sizes, v_0 for values, m_0 for members, which the trial run
resolves by a dictionary and the writer by renaming. Nothing here knows an operator.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

PLACEHOLDER = re.compile(r"\b([svm])_(\d+)\b")

AXES = {
    "vec": "b",
    "rows": "bd",
    "seq": "btd",
    "signal": "bcl",
    "image": "bchw",
    "volume": "bczhw",
    "heads": "bnte",
    "matrix": "bij",
    "square": "bii",
}
"""Kinds of float tensors and the letters of their axes; b is the batch, a letter that stands twice is one size."""

BY_RANK = {1: "vec", 2: "rows", 3: "signal", 4: "image", 5: "volume"}
"""The kind that a result of a rank is taken for where its recipe does not say."""


@dataclass(frozen=True, slots=True)
class Size:
    """A module-level size constant."""

    name: str
    letter: str
    """Axis letter it was drawn for: settles its pretty name and how it scales."""
    real: int
    twin: int
    """What stands for it in the trial run: small, and unlike that of any other size."""


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the graph."""

    name: str
    kind: str
    """A key of AXES; 'final' for what no operator may take (indices, flags)."""
    axes: tuple[str | None, ...]
    """Each axis as an expression in sizes; None where it is not one."""
    low: float
    high: float
    """Bounds that hold whatever the inputs; infinite where there are none."""


@dataclass(frozen=True, slots=True)
class Input:
    """An argument of forward."""

    value: Value
    values: str
    """Name of its distribution: a key of inputs.yaml."""
    bound: str = ""
    """Size expression that integers stay under."""


@dataclass(frozen=True, slots=True)
class Member:
    """A module, parameter or buffer of Model."""

    name: str
    hint: str
    """What a person might call it."""
    build: str
    """Right-hand side in __init__."""
    settle: tuple[str, ...] = ()
    """Statements after it that spread its weights."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One ATen operator of a step at real sizes, in float32."""

    operator: str
    bytes_moved: int
    flops: int
    """Of operators that torch counts; 0 for the rest, which never bind."""


@dataclass(frozen=True, slots=True)
class Step:
    """One assignment of forward."""

    value: Value
    text: str
    reads: tuple[str, ...]
    op: str | None
    """Label it declares; None for arithmetic and shape operations."""
    hint: str = "y"
    through: str = ""
    """Value that a lazy kernel might return instead of this one: the first it reads."""
    launches: tuple[Launch, ...] | None = None
    """What it does at real sizes, where that was counted when it was tried."""


@dataclass(slots=True)
class Graph:
    """A task being composed."""

    sizes: list[Size] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    definitions: dict[str, str] = field(default_factory=dict)
    """Helper class or function by name: its source."""
    outputs: list[str] = field(default_factory=list)
    counter: int = 0

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}_{self.counter}"

    def values(self) -> list[Value]:
        return [part.value for part in (*self.inputs, *self.steps)]

    def unread(self) -> list[Value]:
        """Values that no step reads, in order."""
        read = {name for step in self.steps for name in step.reads}
        return [value for value in self.values() if value.name not in read]

    def is_connected(self) -> bool:
        """Whether it is one task, not two side by side."""
        group = {value.name: {value.name} for value in self.values()}
        for step in self.steps:
            merged = set().union(*(group[name] for name in (step.value.name, *step.reads)))
            group |= dict.fromkeys(merged, merged)
        return len({id(part) for part in group.values()}) == 1

    def ops(self) -> tuple[str, ...]:
        return tuple(step.op for step in self.steps if step.op)

    def copy(self) -> "Graph":
        lists = (list(part) for part in (self.sizes, self.inputs, self.members, self.steps))
        return Graph(*lists, dict(self.definitions), list(self.outputs), self.counter)

    def shape_text(self) -> str:
        """The graph without numbers and names: equal for two tasks that differ in sizes alone."""
        order: dict[str, str] = {}
        text = "\n".join([*(step.text for step in self.steps), *self.outputs, *(member.build for member in self.members)])
        text = PLACEHOLDER.sub(lambda m: order.setdefault(m.group(), f"{m.group(1)}{len(order)}"), text)
        return re.sub(r"(?<![\w.])-?\d+(\.\d+)?(e-?\d+)?", "N", text)


def names_in(texts: Iterable[str], prefix: str) -> list[str]:
    """Placeholders of one prefix in order of first use."""
    found = (match.group() for text in texts for match in PLACEHOLDER.finditer(text) if match.group(1) == prefix)
    return list(dict.fromkeys(found))
