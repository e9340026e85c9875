"""The trial run: each step is really evaluated, on numbers at twin sizes and on the meta device at real sizes.

So shapes are found by running, not by algebra: an axis whose length equals a size's twin in one run and its real value in
the other is that size. What the numbers look like (finite, spread, not the input again) decides whether a step is kept.
"""

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ops6k.fuse.composer.graph import Graph, Input, Launch, Member, Size, Step, Value
from ops6k.fuse.composer.inputs import expression
from ops6k.screen.flops import matrix_flops

TOLERANCE = 1e-2
"""The verifier's atol and rtol: what moves less is not seen."""

MAX_ELEMENTS = 400_000
"""Of a twin: past it a task grows faster than sizes can be fitted."""

_DIVIDES = re.compile("unflatten|reshape|view|chunk|split|shuffle|group|unfold|fold", re.IGNORECASE)
"""What asks that a length be divisible: the twin may be where the real size is not."""

FAILURES = (RuntimeError, ValueError, TypeError, IndexError, AssertionError)
"""What torch raises for arguments that do not fit."""


class Unfit(Exception):
    """A step that cannot stand where it was tried; never leaves the composer."""


@lru_cache(maxsize=4096)
def compiled(text: str, mode: str) -> CodeType:
    return compile(text, "<step>", mode)


class Bed:
    """Names bound to tensors and modules on one device, at one choice of sizes."""

    def __init__(self, device: str, names: dict[str, object] | None = None) -> None:
        self.device = torch.device(device)
        self.names = names or {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math}

    @classmethod
    def of(cls, graph: Graph, sizes: Mapping[str, int]) -> "Bed":
        """Numbers for a whole graph at these sizes, steps not yet run."""
        bed = cls("cpu")
        for source in graph.definitions.values():
            bed.define(source)
        bed.names |= sizes
        for given in graph.inputs:
            bed.names[given.value.name] = bed.input(given)
        for member in graph.members:
            bed.member(member)
        return bed

    def copy(self) -> "Bed":
        return Bed(self.device.type, dict(self.names))

    def define(self, source: str) -> None:
        exec(compiled(source, "exec"), self.names)

    def evaluate(self, text: str) -> object:
        """Raises Unfit for what torch cannot do with it."""
        try:
            return eval(compiled(text, "eval"), self.names)
        except FAILURES as error:
            raise Unfit(str(error).split("\n")[0][:200]) from None

    def input(self, given: Input, dtype: str = "float32") -> torch.Tensor:
        with self._here():
            return self.evaluate(expression(given, dtype))

    def hollow(self, value: Value, dtype: torch.dtype) -> None:
        """A tensor of the value's shape without numbers."""
        shape = [self.evaluate(axis) for axis in value.axes]
        self.names[value.name] = torch.empty(shape, dtype=dtype, device=self.device)

    def member(self, member: Member) -> None:
        with self._here():
            made = self.evaluate(member.build)
            if isinstance(made, torch.nn.Module):
                made.eval()
            self.names[member.name] = made
            # Weights without numbers have nothing to spread.
            for text in member.settle if self.device.type != "meta" else ():
                self.evaluate(text)

    def _here(self) -> AbstractContextManager:
        """Where tensors are made; torch's own context costs microseconds a call."""
        return nullcontext() if self.device.type == "cpu" else self.device

    def step(self, step: Step) -> torch.Tensor:
        with torch.no_grad():
            made = self.evaluate(step.text)
        if not isinstance(made, torch.Tensor):
            raise Unfit(f"gives {type(made).__name__}")
        self.names[step.value.name] = made
        return made


@dataclass(frozen=True, slots=True)
class Tried:
    """What a step gave."""

    twin: torch.Tensor
    axes: tuple[str | None, ...]
    launches: tuple[Launch, ...] | None
    """None where it was not counted."""


class Launches(TorchDispatchMode):
    """Counts what runs in here: operators that are no views, with bytes and FLOPs."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Launch] = []

    def __torch_dispatch__(self, func: object, types: object, args: tuple = (), kwargs: dict | None = None) -> object:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            tensors = [leaf for leaf in tree_leaves((args, kwargs, result)) if isinstance(leaf, torch.Tensor)]
            flops = matrix_flops(func, args, kwargs or {}, result)
            self.made.append(Launch(func._schema.name.split("::")[1], sum(t.numel() * t.element_size() for t in tensors), flops))
        return result


@dataclass(slots=True)
class Beds:
    """The two runs of one graph, side by side. On the meta device, whose operators are written in Python, only those steps are run
    whose axes the twin leaves open; a value that was not run there has its shape all the same."""

    twin: Bed
    meta: Bed
    waiting: dict[str, Member]
    """Members that no step on the meta device has asked for."""

    @classmethod
    def empty(cls) -> "Beds":
        return cls(Bed("cpu"), Bed("meta"), {})

    def copy(self) -> "Beds":
        return Beds(self.twin.copy(), self.meta.copy(), dict(self.waiting))

    def size(self, size: Size) -> None:
        self.twin.names[size.name], self.meta.names[size.name] = size.twin, size.real

    def define(self, source: str) -> None:
        for bed in (self.twin, self.meta):
            bed.define(source)

    def input(self, given: Input) -> None:
        twin = self.twin.names[given.value.name] = self.twin.input(given)
        self.meta.hollow(given.value, twin.dtype)

    def member(self, member: Member) -> None:
        self.twin.member(member)
        self.waiting[member.name] = member

    def step(self, step: Step, reads: Sequence[Value], sizes: Sequence[Size], like: Value | None) -> Tried:
        """What the step gives; raises Unfit where it fails.

        like: the value whose shape the result has in every run if it has it in one, as after element-wise operators and norms.
        """
        if like is not None:
            with Launches() as launches:
                twin = self.twin.step(step)
        else:
            twin = self.twin.step(step)
        require_lively(twin, self.twin.names[step.through])
        if like is not None and twin.shape == self.twin.names[like.name].shape and twin.is_floating_point():
            meta = self.meta.names[step.value.name] = torch.empty_like(self.meta.names[like.name], dtype=twin.dtype)
            larger = meta.numel() // twin.numel()
            made = tuple(replace(launch, bytes_moved=launch.bytes_moved * larger) for launch in launches.made)
            return Tried(twin, like.axes, made)
        axes = self._axes(step, twin, reads, sizes)
        if None not in axes:
            self.meta.hollow(replace(step.value, axes=axes), twin.dtype)
            return Tried(twin, axes, None)
        self.build(step.text)
        meta = self.meta.step(step)
        if twin.ndim != meta.ndim or twin.dtype != meta.dtype:
            raise Unfit("the runs differ in rank or dtype")
        return Tried(twin, tuple(axis_text(a, b, sizes) for a, b in zip(twin.shape, meta.shape, strict=True)), None)

    def build(self, text: str) -> None:
        """Members that a step names, on the meta device."""
        for name in [name for name in self.waiting if name in text]:
            self.meta.member(self.waiting.pop(name))

    def _axes(self, step: Step, twin: torch.Tensor, reads: Sequence[Value], sizes: Sequence[Size]) -> tuple[str | None, ...]:
        """What the twin alone tells: an axis that was read with all before it, or all behind it, or of the length of the one size that
        the step names; None where it could be a number as well."""
        said = step.text + "".join(member.build for name, member in self.waiting.items() if name in step.text)
        if _DIVIDES.search(said):
            return (None,) * twin.ndim
        named = {size.twin: size.name for size in sizes if re.search(rf"\b{size.name}\b", said)}
        places = [(value.axes, self.twin.names[value.name].shape) for value in reads]

        def axis(at: int, length: int) -> str | None:
            for axes, shape in places:
                if shape[: at + 1] == twin.shape[: at + 1]:
                    return axes[at]
                if shape[at - twin.ndim :] == twin.shape[at:]:
                    return axes[at - twin.ndim]
            return named.get(length)

        return tuple(axis(at, length) for at, length in enumerate(twin.shape))


def launches(graph: Graph) -> list[Launch]:
    """What every step does at real sizes: as counted when it was tried, or on the meta device now. Raises Unfit."""
    beds = Beds.empty()
    for source in graph.definitions.values():
        beds.meta.define(source)
    beds.meta.names |= {size.name: size.real for size in graph.sizes}
    beds.waiting = {member.name: member for member in graph.members}
    for given in graph.inputs:
        beds.meta.names[given.value.name] = beds.meta.input(given)
    return [launch for step in graph.steps for launch in _counted(step, beds)]


def _counted(step: Step, beds: Beds) -> Sequence[Launch]:
    if step.launches is not None and None not in step.value.axes:
        beds.meta.hollow(step.value, torch.float32)
        return step.launches
    beds.build(step.text)
    with Launches() as launches:
        beds.meta.step(step)
    return launches.made


def axis_text(twin: int, real: int, sizes: Sequence[Size]) -> str | None:
    """The size expression that has these lengths in the two runs: a size, a multiple, a fraction or product, a number."""
    for size in sizes:
        if (size.twin, size.real) == (twin, real):
            return size.name
    if twin == real:
        return str(twin)
    for size in sizes:
        for factor in (2, 3, 4):
            if (size.twin * factor, size.real * factor) == (twin, real):
                return f"{factor} * {size.name}"
            if size.twin % factor == size.real % factor == 0 and (size.twin // factor, size.real // factor) == (twin, real):
                return f"{size.name} // {factor}"
    for i, first in enumerate(sizes):
        for second in sizes[i:]:
            if (first.twin * second.twin, first.real * second.real) == (twin, real):
                return f"{first.name} * {second.name}"
    return None


def sampled(values: torch.Tensor, count: int = 2048) -> np.ndarray:
    """At most `count` elements, evenly spread, in float32 at least: enough for shares of a few per cent. In numpy, whose calls on so
    few numbers cost a tenth of torch's."""
    flat = values.detach().flatten()
    if flat.numel() > count:
        # An odd step, so that it does not run along one axis of an even width.
        flat = flat[:: (flat.numel() // count) | 1]
    wide = flat if flat.dtype in (torch.float32, torch.float64) else flat.float()
    return wide.resolve_neg().numpy()  # the imaginary part of a conjugate is negated lazily


def moved(ours: np.ndarray, theirs: np.ndarray | float) -> float:
    """Share of elements of `ours` that the verifier would see differ from `theirs`; both `sampled`, or one number for all."""
    with np.errstate(invalid="ignore", over="ignore"):
        seen = np.abs(ours - theirs) > TOLERANCE + TOLERANCE * np.abs(ours)
    return int(np.count_nonzero(seen)) / max(ours.size, 1)


def constant_share(some: np.ndarray) -> float:
    """Largest share of elements that zeros, or the median, would get right."""
    return max(1 - moved(some, guess) for guess in (0.0, float(np.median(some))))


def require_lively(result: torch.Tensor, taken: torch.Tensor | None) -> None:
    """Raises Unfit where a result is not finite, nearly constant, far from unit scale, or what was taken once more."""
    if result.numel() > MAX_ELEMENTS:
        raise Unfit("grows too large")
    if not result.is_floating_point():
        return
    some = sampled(result)
    if not np.isfinite(some).all():
        raise Unfit("not finite")
    if np.abs(some).max() > 2e3 or some.std() < 0.06:
        raise Unfit("far from unit scale")
    if constant_share(some) > 0.72:
        raise Unfit("nearly constant")
    if taken is not None and taken.shape == result.shape and moved(some, sampled(taken)) < 0.15:
        raise Unfit("changes nothing")
