"""The closed table of compilation plans: what an action of the agent means, as data.

Standard library only (the measuring child imports this). A plan names a backend, a memory format and Inductor options;
`rewrites` names graph rewrites done before the backend sees the graph. Precision is no part of a plan: it stays as the
target says. The table is append-only in spirit: an agent's action schema holds every definition, and a changed one is refused.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from ops6k import store
from ops6k.records import Task


class Trait(StrEnum):
    """What a plan may ask of a task and its device."""

    CPU = "cpu"
    CUDA = "cuda"
    CONVOLUTION = "convolution"
    MATMUL = "matmul"
    IMAGES = "images"
    """Works on 4-d (batch, channel, height, width) tensors, so that a memory format means something."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to run a task."""

    name: str
    does: str
    """One line for a person."""
    backend: str = "inductor"
    """eager, or inductor."""
    channels_last: bool = False
    """4-d inputs and parameters in channels-last order: weights once, inputs in every timed forward, as a harness would hand them."""
    options: tuple[tuple[str, bool | int | str], ...] = ()
    """Inductor options, as torch.compile's `options`."""
    needs: tuple[Trait, ...] = ()
    """All of these must hold."""
    rewrites: tuple[str, ...] = ()
    """Names of graph rewrites, in order; none exist yet."""

    @property
    def definition(self) -> str:
        """16 hex digits of what is run: a measured time is valid for exactly this."""
        return store.fingerprint(self.backend, self.channels_last, self.options, self.rewrites)


PLANS: tuple[Plan, ...] = (
    Plan("eager", "PyTorch as it stands", backend="eager"),
    Plan("default", "torch.compile's default"),
    Plan("eager_channels_last", "eager, channels last", backend="eager", channels_last=True, needs=(Trait.IMAGES,)),
    Plan("channels_last", "default compile, channels last", channels_last=True, needs=(Trait.IMAGES,)),
    Plan(
        "no_layout_optimization",
        "convolutions keep the layout of their inputs",
        options=(("layout_optimization", False),),
        needs=(Trait.CONVOLUTION,),
    ),
    Plan("freezing", "weights become constants, packed ahead", options=(("freezing", True),), needs=(Trait.CPU, Trait.MATMUL)),
    Plan(
        "freezing_max_autotune",
        "weights become constants, C++ GEMM templates tried",
        options=(("freezing", True), ("max_autotune", True)),
        needs=(Trait.CPU, Trait.MATMUL),
    ),
    Plan("cudagraphs", "default compile replayed as a CUDA graph", options=(("triton.cudagraphs", True),), needs=(Trait.CUDA,)),
    Plan(
        "max_autotune_no_cudagraphs",
        "every autotuning, no CUDA graph",
        options=(("max_autotune", True), ("coordinate_descent_tuning", True)),
        needs=(Trait.CUDA,),
    ),
    Plan(
        "coordinate_descent",
        "block sizes by coordinate descent",
        options=(("coordinate_descent_tuning", True),),
        needs=(Trait.CUDA,),
    ),
    Plan(
        "max_autotune_pointwise",
        "pointwise and reduction kernels autotuned",
        options=(("max_autotune_pointwise", True),),
        needs=(Trait.CUDA,),
    ),
    Plan(
        "coordinate_descent_pointwise",
        "pointwise autotuning, then coordinate descent",
        options=(("max_autotune_pointwise", True), ("coordinate_descent_tuning", True)),
        needs=(Trait.CUDA,),
    ),
    Plan(
        "max_autotune_gemm", "matrix products autotuned", options=(("max_autotune_gemm", True),), needs=(Trait.CUDA, Trait.MATMUL)
    ),
    Plan(
        "looped_reductions",
        "reductions loop instead of holding a row in registers",
        options=(("triton.persistent_reductions", False),),
        needs=(Trait.CUDA,),
    ),
)

BY_NAME: dict[str, Plan] = {plan.name: plan for plan in PLANS}

# Over the ATen names of work.operators, as their schemas spell them; a linear layer or an attention is traced into these.
_CONVOLUTION = re.compile(r"convolution")
_MATMUL = re.compile(r"^\w*(?:mm|mv)$|^dot$|convolution|attention|lstm|gru")
# Over labels too: the rank of a convolution shows only there.
_IMAGES = re.compile(r"2d|pixel_?shuffle|pixel_?unshuffle|grid_sampl|interpolate")
# What platform.processor() and platform.machine() call a CPU; a GPU has a product name.
_CPU = re.compile(r"(?:|cpu|x86_64|amd64|i\d86|aarch64|arm\w*)$", re.IGNORECASE)


def traits_of(task: Task) -> frozenset[Trait]:
    """What the row says of a task; IMAGES is a guess by operator names, and the measuring child has the last word."""
    operators = [name.lower() for name in task.work.operators]
    names = operators + [label.lower() for label in task.ops]
    searched = ((Trait.CONVOLUTION, _CONVOLUTION, operators), (Trait.MATMUL, _MATMUL, operators), (Trait.IMAGES, _IMAGES, names))
    found = {trait for trait, pattern, where in searched if any(pattern.search(name) for name in where)}
    found.add(Trait.CPU if _CPU.match(task.environment.device) else Trait.CUDA)
    return frozenset(found)


def applicable(task: Task) -> tuple[Plan, ...]:
    """The plans that mean something for a task, in the table's order: never empty, eager and default always apply."""
    traits = traits_of(task)
    return tuple(plan for plan in PLANS if traits.issuperset(plan.needs))


def schema() -> dict:
    """The action schema as JSON-ready values: names in order of their action number, and what each is defined as."""
    return {
        "version": 1,
        "actions": [{"name": plan.name, "definition": plan.definition, "does": plan.does} for plan in PLANS] + [{"name": "stop"}],
    }
