"""Does a whole graph hold up: at twin sizes, would a verifier see each step, each input and each output?

A cheap forerunner of the screen, for yield: the verdict is the screen's. Every step, undeclared arithmetic too, is
replaced by its input and by its mean; every input is redrawn; the result is compared with one in float64.
"""

from collections.abc import Callable, Mapping
from copy import copy, deepcopy

import numpy as np
import torch

from ops6k.fuse.composer.graph import Graph, Step
from ops6k.fuse.composer.trial import Bed, Unfit, constant_share, moved, sampled

MIN_EFFECT = 0.05
"""Share of output elements that each step and each input must move."""
MIN_WEIGHT_EFFECT = 0.02
"""The same for each weight of a module, moved by more than its own size."""
MIN_CHANGE = 0.25
"""The same for all inputs redrawn at once."""
MAX_FREE = 0.72
MAX_VALUE = 2e4
"""Of an output: float16 ends at 65504."""
MAX_UNSTABLE = 1e-3
"""Share of elements in which float64 may differ."""


def require_sound(graph: Graph, bed: Bed, dtype: str) -> None:
    """Raises Unfit that names what a verifier would not see, or what rounding decides."""
    require_effects(graph, bed)
    _require_each_weight(graph, bed, {name: sampled(bed.names[name]) for name in graph.outputs})
    _require_conditioned(graph, bed, dtype)


def require_effects(graph: Graph, bed: Bed) -> None:
    """Raises Unfit where an output, an input, a weight or a step would not be missed."""
    found = outputs(graph, bed)
    for values in found.values():
        _require_spread(values)
    base = {name: sampled(values) for name, values in found.items()}
    _require_inputs(graph, bed, base)
    _require_weights(graph, bed, base)
    for i, step in enumerate(graph.steps):
        _require_step(graph, bed, base, i, step)


def _require_spread(values: torch.Tensor) -> None:
    if values.numel() == 0:
        raise Unfit("an output is empty")
    some = sampled(values)
    if not values.is_floating_point():
        if constant_share(some) > MAX_FREE:
            raise Unfit("an output is nearly constant")
    elif (
        not torch.isfinite(values).all() or values.abs().max() > MAX_VALUE or some.std() < 0.06 or constant_share(some) > MAX_FREE
    ):
        raise Unfit("an output is nearly constant, or out of hand")


def outputs(graph: Graph, bed: Bed, start: int = 0) -> dict[str, torch.Tensor]:
    """What forward returns, evaluated from step `start` on."""
    for step in graph.steps[start:]:
        bed.step(step)
    return {name: bed.names[name] for name in graph.outputs}


def _effect(base: Mapping[str, np.ndarray], other: Mapping[str, torch.Tensor]) -> float:
    """Largest share, over the outputs, of elements that a verifier sees move; something not finite is seen."""
    return max(
        moved(values, np.nan_to_num(sampled(other[name]), nan=1e6, posinf=1e6, neginf=-1e6)) for name, values in base.items()
    )


def _require_inputs(graph: Graph, bed: Bed, base: Mapping[str, np.ndarray]) -> None:
    fresh = bed.copy()
    for given in graph.inputs:
        fresh.names[given.value.name] = fresh.input(given)
    redrawn = outputs(graph, fresh)
    if min(moved(values, sampled(redrawn[name])) for name, values in base.items()) < MIN_CHANGE:
        raise Unfit("an output does not follow the inputs")
    if len(graph.inputs) == 1:
        return
    for given in graph.inputs:
        alone = bed.copy()
        alone.names[given.value.name] = fresh.names[given.value.name]
        if _effect(base, outputs(graph, alone)) < MIN_EFFECT:
            raise Unfit("an input does not matter")


def _require_weights(graph: Graph, bed: Bed, base: Mapping[str, np.ndarray]) -> None:
    """Where there are weights, each output follows them: the output of other weights must be no answer."""
    if not any(
        isinstance(held := bed.names[m.name], torch.Tensor) or any(True for _ in held.state_dict()) for m in graph.members
    ):
        return
    other = bed.copy()
    for member in graph.members:
        other.member(member)
    found = outputs(graph, other)
    if min(moved(values, sampled(found[name])) for name, values in base.items()) < MIN_CHANGE:
        raise Unfit("an output does not follow the weights")


def _require_each_weight(graph: Graph, bed: Bed, base: Mapping[str, np.ndarray]) -> None:
    """No weight of a module is absorbed by what follows, as the bias of a convolution is by an instance norm."""
    for member in graph.members:
        held = bed.names[member.name]
        weights = list(held.parameters()) if isinstance(held, torch.nn.Module) else []
        start = next((i for i, step in enumerate(graph.steps) if member.name in step.text), len(graph.steps))
        for weight in weights if len(weights) > 1 else ():
            kept = weight.data
            weight.data = kept + (1.0 + kept.abs()) * (1.0 + torch.rand_like(kept))
            effect = _effect(base, outputs(graph, bed.copy(), start))
            weight.data = kept
            if effect < MIN_WEIGHT_EFFECT:
                raise Unfit("a weight does not matter")


def _require_step(graph: Graph, bed: Bed, base: Mapping[str, np.ndarray], i: int, step: Step) -> None:
    result = bed.names[step.value.name]
    for stand_in in _stand_ins(result, bed.names.get(step.through)):
        other = bed.copy()
        other.names[step.value.name] = stand_in
        if _effect(base, outputs(graph, other, i + 1)) < MIN_EFFECT:
            raise Unfit(f"{step.op or step.text} can be left out")


def _stand_ins(result: torch.Tensor, taken: object) -> list[torch.Tensor]:
    """Its mean, and what it was made of. Zeros too where there is no mean: what is mostly zeros was refused as nearly constant, so
    else zeros are seen wherever the mean is."""
    if not result.is_floating_point():
        return [torch.zeros_like(result)]
    found = [result.mean().expand_as(result).clone()]
    if isinstance(taken, torch.Tensor) and taken.shape == result.shape:
        found.append(taken.to(result.dtype))
    return found


def _require_conditioned(graph: Graph, bed: Bed, dtype: str) -> None:
    """The task's own precision and float64 agree within the verifier's tolerance."""
    kind = getattr(torch, dtype)
    rounded = {i.value.name: _as(bed.names[i.value.name], kind) for i in graph.inputs}
    # The trial run was in float32.
    ours = bed.names if kind is torch.float32 else outputs(graph, _cast(graph, bed, rounded, (kind, kind)))
    wide = outputs(graph, _cast(graph, bed, rounded, (kind, torch.float64)))
    for name, values in wide.items():
        if moved(sampled(values), sampled(ours[name])) > MAX_UNSTABLE:
            raise Unfit("ill-conditioned")


def _cast(graph: Graph, bed: Bed, given: Mapping[str, torch.Tensor], kinds: tuple[torch.dtype, torch.dtype]) -> Bed:
    """The bed with weights rounded to the first dtype and all of it held in the second."""
    rounded, kind = kinds
    other = bed.copy()
    for member in graph.members:
        held = bed.names[member.name]
        if isinstance(held, torch.nn.Module):
            other.names[member.name] = _recast(held, lambda tensor: _as(_as(tensor, rounded), kind))
        else:
            other.names[member.name] = _as(_as(held, rounded), kind)
    other.names |= {name: _as(value, kind) for name, value in given.items()}
    return other


def _recast(module: torch.nn.Module, cast: Callable[[torch.Tensor], torch.Tensor]) -> torch.nn.Module:
    """A module of the same kind over cast weights. A deep copy takes ten times as long; only those that keep lists of their own
    weights need it."""
    if isinstance(module, torch.nn.RNNBase):
        return deepcopy(module)._apply(cast)
    other = copy(module)
    other._parameters = {
        name: None if held is None else torch.nn.Parameter(cast(held), requires_grad=False)
        for name, held in module._parameters.items()
    }
    other._buffers = {name: None if held is None else cast(held) for name, held in module._buffers.items()}
    other._modules = {name: None if held is None else _recast(held, cast) for name, held in module._modules.items()}
    return other


def _as(value: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    return value.detach().to(kind) if value.is_floating_point() else value
