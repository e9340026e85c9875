"""The closed vocabulary of plans: which decisions make one, and what an attempt under it runs.

Standard library only (the measuring child imports this). A plan is a short sequence of decisions: graph rewrites, a memory
format, a backend. Precision is no part of it: it stays as the target says. An agent's action schema holds every definition,
and an agent trained for others is refused.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from ops6k import store
from ops6k.errors import Ops6kError
from ops6k.records import Task

REWRITES: tuple[str, ...] = (
    "fold_batch_norm", "fold_scale", "shift_invariance", "idempotent", "diagonal_matmul", "commute_pool", "reduce_linear",
    "merge_linear", "cancel_moves", "common_subexpressions", "hoist_invariants",
)  # fmt: skip
"""As in rewrites.table, which needs torch; a test compares the two."""
CHANNELS_LAST = "channels_last"
STOP = "stop"


class UnknownPlan(Ops6kError):
    """A name that no plan of this version has."""


class Trait(StrEnum):
    """What a backend may ask of a task and its device."""

    CPU = "cpu"
    CUDA = "cuda"
    CONVOLUTION = "convolution"
    MATMUL = "matmul"
    IMAGES = "images"
    """Works on 4-d (batch, channel, height, width) tensors, so that a memory format means something."""


@dataclass(frozen=True, slots=True)
class Backend:
    """What runs a plan's graph. The table's order is that of measuring: what was seen to pay most comes first."""

    name: str
    does: str
    """One line for a person."""
    options: tuple[tuple[str, bool | int | str], ...] | None = ()
    """Inductor options, as torch.compile's `options`; None: eager, nothing is compiled."""
    needs: tuple[Trait, ...] = ()
    """All of these must hold."""


def _cuda(name: str, does: str, *options: tuple[str, bool | int | str], matmul: bool = False) -> Backend:
    return Backend(name, does, options, (Trait.CUDA, *([Trait.MATMUL] if matmul else [])))


BACKENDS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend("eager", "PyTorch as it stands", None),
        Backend("default", "torch.compile's default"),
        Backend(
            "no_layout_optimization",
            "convolutions keep the layout of their inputs",
            (("layout_optimization", False),),
            (Trait.CONVOLUTION,),
        ),
        Backend("freezing", "weights become constants, packed ahead", (("freezing", True),), (Trait.CPU, Trait.MATMUL)),
        Backend(
            "freezing_max_autotune",
            "weights become constants, C++ GEMM templates tried",
            (("freezing", True), ("max_autotune", True)),
            (Trait.CPU, Trait.MATMUL),
        ),
        _cuda("coordinate_descent", "block sizes by coordinate descent", ("coordinate_descent_tuning", True)),
        _cuda(
            "descent_pointwise",
            "pointwise autotuning, then coordinate descent",
            ("max_autotune_pointwise", True),
            ("coordinate_descent_tuning", True),
        ),
        _cuda("autotune_gemm", "matrix products autotuned", ("max_autotune_gemm", True), matmul=True),
        _cuda("multi_kernel", "persistent or looped reductions, picked at run time", ("triton.multi_kernel", 1)),
        _cuda(
            "nd_tiling",
            "pointwise kernels tiled along up to three axes",
            ("triton.prefer_nd_tiling", True),
            ("triton.max_tiles", 3),
        ),
        _cuda("loop_order", "loops reordered so that more is fused", ("loop_ordering_after_fusion", True)),
        _cuda(
            "looped_reductions", "reductions loop instead of holding a row in registers", ("triton.persistent_reductions", False)
        ),
        _cuda("whole_reductions", "a reduction is not split over two kernels", ("split_reductions", False)),
        _cuda("max_autotune", "every autotuning, no CUDA graph", ("max_autotune", True)),
        _cuda("small_fusions", "at most eight nodes in a kernel", ("max_fusion_size", 8)),
        _cuda("more_reuse", "what several read is kept rather than computed again", ("realize_reads_threshold", 1)),
        _cuda("no_padding", "matrix products without padded shapes", ("shape_padding", False), matmul=True),
        _cuda("autotune_pointwise", "pointwise and reduction kernels autotuned", ("max_autotune_pointwise", True)),
        _cuda("cudagraphs", "default compile replayed as a CUDA graph", ("triton.cudagraphs", True)),
    )
}


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to run a task."""

    rewrites: tuple[str, ...] = ()
    """In the table's order; done together."""
    channels_last: bool = False
    """4-d inputs and parameters in channels-last order: weights once, inputs in every timed forward, as a harness would hand them."""
    backend: str = "default"

    @property
    def name(self) -> str:
        """`[rewrite,rewrite/][channels_last/]backend`; `Plan.named` reads it back."""
        parts = [
            *([",".join(self.rewrites)] if self.rewrites else []),
            *([CHANNELS_LAST] if self.channels_last else []),
            self.backend,
        ]
        return "/".join(parts)

    @classmethod
    def named(cls, name: str) -> "Plan":
        """Raises UnknownPlan."""
        *before, backend = name.split("/")
        channels_last = before[-1:] == [CHANNELS_LAST]
        rewrites = tuple(before[0].split(",")) if len(before) > channels_last else ()
        plan = cls(rewrites, channels_last, backend)
        if backend not in BACKENDS or plan.rewrites != in_order(rewrites) or plan.name != name:
            raise UnknownPlan(f"{name}: no plan of this version of ops6k")
        return plan

    @property
    def options(self) -> tuple[tuple[str, bool | int | str], ...] | None:
        return BACKENDS[self.backend].options

    @property
    def does(self) -> str:
        """One line for a person."""
        before = [*self.rewrites, *(["channels last"] if self.channels_last else [])]
        return ", ".join([*before, BACKENDS[self.backend].does])

    @property
    def definition(self) -> str:
        """16 hex digits of what is run: a measured time is valid for exactly this."""
        return store.fingerprint(self.rewrites, self.channels_last, self.options)

    @property
    def decisions(self) -> tuple[str, ...]:
        """The actions that make it, the backend last: it begins the attempt."""
        return (*self.rewrites, *([CHANNELS_LAST] if self.channels_last else []), self.backend)


EAGER, DEFAULT = Plan(backend="eager"), Plan()

ACTIONS: tuple[str, ...] = (*REWRITES, CHANNELS_LAST, *BACKENDS, STOP)
"""A decision each; an agent's action is a number in this order."""

# Over the ATen names of work.operators, as their schemas spell them; a linear layer or an attention is traced into these.
_CONVOLUTION = re.compile(r"convolution")
_MATMUL = re.compile(r"^\w*(?:mm|mv)$|^dot$|convolution|attention|lstm|gru")
# Over labels too: the rank of a convolution shows only there.
_IMAGES = re.compile(r"2d|pixel_?shuffle|pixel_?unshuffle|grid_sampl|interpolate")
# What platform.processor() and platform.machine() call a CPU; a GPU has a product name.
_CPU = re.compile(r"(?:|cpu|x86_64|amd64|i\d86|aarch64|arm\w*)$", re.IGNORECASE)


def plan_of(decisions: Iterable[str]) -> Plan:
    """The plan that these decisions make; the last one is its backend."""
    *before, backend = decisions
    return Plan(in_order(before), CHANNELS_LAST in before, backend)


def in_order(rewrites: Iterable[str]) -> tuple[str, ...]:
    """Without repeats and unknown names, in the table's order."""
    asked = set(rewrites)
    return tuple(name for name in REWRITES if name in asked)


def traits_of(task: Task) -> frozenset[Trait]:
    """What the row says of a task; IMAGES is a guess by operator names, and the measuring child has the last word."""
    operators = [name.lower() for name in task.work.operators]
    names = operators + [label.lower() for label in task.ops]
    searched = ((Trait.CONVOLUTION, _CONVOLUTION, operators), (Trait.MATMUL, _MATMUL, operators), (Trait.IMAGES, _IMAGES, names))
    found = {trait for trait, pattern, where in searched if any(pattern.search(name) for name in where)}
    found.add(Trait.CPU if _CPU.match(task.environment.device) else Trait.CUDA)
    return frozenset(found)


def backends(traits: frozenset[Trait]) -> tuple[str, ...]:
    """The backends that mean something, in the table's order: eager and default always do."""
    return tuple(backend.name for backend in BACKENDS.values() if traits.issuperset(backend.needs))


def plans_for(task: Task, rewrites: Iterable[str], count: int) -> tuple[Plan, ...]:
    """The first `count` plans to measure for a task, eager and default first, what differs in one decision next.

    rewrites: those that change something in this task's graph. All of them together, each alone, channels last, and
    both under the backends that were seen to pay most.
    """
    found = in_order(rewrites)
    traits = traits_of(task)
    plain = [Plan(backend=name) for name in backends(traits)]
    plans = [*plain[:2], *([Plan(found)] if found else []), *([Plan((), True)] if Trait.IMAGES in traits else []), *plain[2:]]
    return tuple(dict.fromkeys([*plans, *_combined(found, plans)]))[:count]


def _combined(found: tuple[str, ...], plans: list[Plan]) -> Iterator[Plan]:
    pay = [
        plan
        for plan in plans
        if plan.backend in ("coordinate_descent", "max_autotune", "no_layout_optimization", "freezing", "eager")
    ]
    if found:
        yield from (replace(plan, rewrites=found) for plan in pay if not plan.rewrites)
    if any(plan.channels_last for plan in plans):
        yield from (replace(plan, channels_last=True) for plan in pay)
        if found:
            yield Plan(found, True)
    if len(found) > 1:
        yield from (Plan((name,)) for name in found)


def schema() -> dict:
    """The action schema as JSON-ready values: decisions in order of their action number, and what each is defined as."""
    actions = [{"name": name, "kind": "rewrite"} for name in REWRITES]
    actions.append({"name": CHANNELS_LAST, "kind": "memory_format"})
    for backend in BACKENDS.values():
        options = None if backend.options is None else dict(backend.options)
        actions.append({"name": backend.name, "kind": "backend", "does": backend.does, "options": options})
    return {"version": 2, "actions": [*actions, {"name": STOP, "kind": "stop"}]}
