"""The trial run: each step is really evaluated, on numbers at twin sizes and on the meta device at real sizes.

So shapes are found by running, not by algebra: an axis whose length equals a size's twin in one run and its real value in
the other is that size. What the numbers look like (finite, spread, not the input again) decides whether a step is kept.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from ops6k.fuse.composer.graph import Graph, Input, Launch, Member, Size, Step, Value
from ops6k.fuse.composer.inputs import expression

TOLERANCE = 1e-2
"""The verifier's atol and rtol: what moves less is not seen."""

MAX_ELEMENTS = 400_000
"""Of a twin: past it a task grows faster than sizes can be fitted."""

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
        with self.device:
            return self.evaluate(expression(given, dtype))

    def member(self, member: Member) -> None:
        with self.device:
            made = self.evaluate(member.build)
            if isinstance(made, torch.nn.Module):
                made.eval()
            self.names[member.name] = made
            # Weights without numbers have nothing to spread.
            for text in member.settle if self.device.type != "meta" else ():
                self.evaluate(text)

    def step(self, step: Step) -> torch.Tensor:
        with torch.no_grad():
            made = self.evaluate(step.text)
        if not isinstance(made, torch.Tensor):
            raise Unfit(f"gives {type(made).__name__}")
        self.names[step.value.name] = made
        return made


@dataclass(frozen=True, slots=True)
class Tried:
    """A step's result in both runs."""

    twin: torch.Tensor
    meta: torch.Tensor
    launches: tuple[Launch, ...]

    def axes(self, sizes: list[Size]) -> tuple[str | None, ...]:
        return tuple(axis_text(a, b, sizes) for a, b in zip(self.twin.shape, self.meta.shape, strict=True))


class Launches(TorchDispatchMode):
    """Counts what runs in here: operators that are no views, with bytes and FLOPs."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Launch] = []

    def __torch_dispatch__(self, func: object, types: object, args: tuple = (), kwargs: dict | None = None) -> object:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            tensors = [leaf for leaf in tree_leaves((args, kwargs, result)) if isinstance(leaf, torch.Tensor)]
            count = flop_registry.get(func._overloadpacket)
            flops = count(*args, **(kwargs or {}), out_val=result) if count else 0
            self.made.append(Launch(func._schema.name.split("::")[1], sum(t.numel() * t.element_size() for t in tensors), flops))
        return result


@dataclass(slots=True)
class Beds:
    """The two runs of one graph, side by side."""

    twin: Bed
    meta: Bed

    @classmethod
    def empty(cls) -> "Beds":
        return cls(Bed("cpu"), Bed("meta"))

    def copy(self) -> "Beds":
        return Beds(self.twin.copy(), self.meta.copy())

    def size(self, size: Size) -> None:
        self.twin.names[size.name], self.meta.names[size.name] = size.twin, size.real

    def define(self, source: str) -> None:
        for bed in (self.twin, self.meta):
            bed.define(source)

    def input(self, given: Input) -> None:
        twin = self.twin.names[given.value.name] = self.twin.input(given)
        shape = [self.meta.evaluate(axis) for axis in given.value.axes]
        self.meta.names[given.value.name] = torch.empty(shape, dtype=twin.dtype, device="meta")

    def member(self, member: Member) -> None:
        for bed in (self.twin, self.meta):
            bed.member(member)

    def step(self, step: Step, like: Value | None) -> Tried:
        """What the step gives; raises Unfit where either run fails.

        like: the value whose shape the result has in every run if it has it in one, as after element-wise operators and norms. That
        saves the run on the meta device, whose operators are written in Python.
        """
        with Launches() as launches:
            twin = self.twin.step(step)
        require_lively(twin, self.twin.names[step.through])
        if like is not None and twin.shape == self.twin.names[like.name].shape and twin.is_floating_point():
            meta = self.meta.names[step.value.name] = torch.empty_like(self.meta.names[like.name], dtype=twin.dtype)
            larger = meta.numel() // twin.numel()
            return Tried(twin, meta, tuple(replace(launch, bytes_moved=launch.bytes_moved * larger) for launch in launches.made))
        with Launches() as launches:
            meta = self.meta.step(step)
        if twin.ndim != meta.ndim or twin.dtype != meta.dtype:
            raise Unfit("the runs differ in rank or dtype")
        return Tried(twin, meta, tuple(launches.made))


def axis_text(twin: int, real: int, sizes: list[Size]) -> str | None:
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


def sampled(values: torch.Tensor, count: int = 4096) -> torch.Tensor:
    """At most `count` elements, evenly spread, float64: enough for shares of a few per cent."""
    flat = values.flatten()
    # An odd step, so that it does not run along one axis of an even width.
    return flat[:: (flat.numel() // count) | 1].double() if flat.numel() > count else flat.double()


def moved(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Share of elements of `ours` that the verifier would see differ from `theirs`; both of one shape, or both `sampled`."""
    a, b = sampled(ours), sampled(theirs)
    return ((a - b).abs() > TOLERANCE + TOLERANCE * a.abs()).double().mean().item()


def constant_share(values: torch.Tensor) -> float:
    """Largest share of elements that zeros, or the median, would get right."""
    wide = sampled(values)
    guesses = (torch.zeros((), dtype=torch.double), wide.median())
    return max(1 - moved(wide, guess.expand_as(wide)) for guess in guesses)


def require_lively(result: torch.Tensor, taken: torch.Tensor | None) -> None:
    """Raises Unfit where a result is not finite, nearly constant, far from unit scale, or what was taken once more."""
    if result.numel() > MAX_ELEMENTS:
        raise Unfit("grows too large")
    if not result.is_floating_point():
        return
    some = sampled(result)
    if not bool(torch.isfinite(some).all()):
        raise Unfit("not finite")
    if some.abs().max().item() > 2e3 or some.std().item() < 0.06:
        raise Unfit("far from unit scale")
    if constant_share(some) > 0.72:
        raise Unfit("nearly constant")
    if taken is not None and taken.shape == result.shape and moved(result, taken) < 0.15:
        raise Unfit("changes nothing")
