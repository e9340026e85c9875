"""Whether the outputs answer to the inputs: all of them redrawn, one alone redrawn or disturbed, and centred ones."""

from collections.abc import Iterator

import torch

from ops6k.labels import key
from ops6k.records import Reason
from ops6k.screen.bench import DRAWS, Bench
from ops6k.screen.compare import as_tuple, changed_share, identical
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs, seed_all, tensors_of

LOW_ACTIVITY = 0.01
"""Fewer elements that change make an output as good as constant."""
SPREAD_SEEDS = tuple(range(31, 39))
SPREAD_BANDS = 3.0
"""The values of a reduction over 8 draws must spread over so many tolerance bands."""
FEW = 64
"""Elements of an output up to which it is a summary of its inputs, not a map of them."""
CENTRED = frozenset(
    "relu relu6 leakyrelu elu celu selu gelu silu abs clamp clampmin hardtanh threshold prelu rrelu softshrink hardshrink".split()
)
"""Operators that do nothing, or one thing, to inputs of one sign."""
_DISTURB_SEED = 41


def reacts_to_inputs(bench: Bench) -> Finding | None:
    """Fresh inputs change at least 1 % of every output beyond the tolerance; summaries spread by more than it hides."""
    shares, mean = [], None
    for seed in DRAWS[1:]:
        arguments = make_inputs(bench.task, bench.device, seed)
        if identical(tuple(tensors_of(arguments)), tuple(tensors_of(bench.inputs))):
            return Finding(Reason.FIXED_INPUTS, "get_inputs returns the same values at every call")
        output = attempt(lambda: as_tuple(bench.model(*arguments)))  # noqa: B023 - called at once
        if isinstance(output, Finding):
            return output
        shares.append([changed_share(a, b, bench.tolerance) for a, b in zip(output, bench.outputs, strict=True)])
        bench.fresh = bench.fresh or output
        parts = [part.float() / len(DRAWS[1:]) for part in output]
        mean = parts if mean is None else [a + b for a, b in zip(mean, parts, strict=True)]
    bench.fresh_mean = tuple(mean)
    per_output = [sum(column) / len(column) for column in zip(*shares, strict=True)]
    bench.output_change = min(per_output)
    return _change_finding(bench, per_output.index(bench.output_change)) or _spread_finding(bench) or _centred_finding(bench)


def _change_finding(bench: Bench, worst: int) -> Finding | None:
    if bench.output_change == 0:
        return Finding(Reason.CONSTANT_OUTPUT, f"output {worst} stays within {bench.tolerance:g} whatever the inputs")
    if bench.output_change < LOW_ACTIVITY:
        return Finding(Reason.LOW_ACTIVITY, f"fresh inputs change {bench.output_change:.3%} of output {worst}")
    return None


def _spread_finding(bench: Bench) -> Finding | None:
    """Sums and means over many independent numbers hardly vary: their mean over the draws would be a free answer."""
    small = [i for i, out in enumerate(bench.outputs) if out.is_floating_point() and out.numel() <= FEW]
    largest = max(x.numel() for x in tensors_of(bench.inputs))
    small = [i for i in small if largest > 1000 * bench.outputs[i].numel()]
    if not small:
        return None
    rows = []
    for seed in SPREAD_SEEDS:
        output = attempt(lambda: as_tuple(bench.model(*make_inputs(bench.task, bench.device, seed))))  # noqa: B023 - called at once
        if isinstance(output, Finding):
            return output
        rows.append([output[i].double() for i in small])
    for place, column in zip(small, zip(*rows, strict=True), strict=True):
        values = torch.stack(column)
        band = bench.tolerance * (1 + values.mean(dim=0).abs())
        bands = ((values.amax(dim=0) - values.amin(dim=0)) / band).median().item()
        if bands < SPREAD_BANDS:
            message = f"output {place} spreads over {bands:.2g} tolerance bands in {len(SPREAD_SEEDS)} draws: its mean passes"
            return Finding(Reason.FREE_ANSWER, message)
    return None


def _centred_finding(bench: Bench) -> Finding | None:
    """Where every input is of one sign, an activation may do nothing to it that it would do to others."""
    floats = [x for x in tensors_of(bench.inputs) if x.is_floating_point()]
    if not floats or not {key(op) for op in bench.ops} & CENTRED or any(bool((x < 0).any()) for x in floats):
        return None
    outputs = [attempt(lambda: as_tuple(bench.model(*_centred(bench, seed)))) for seed in DRAWS[:2]]  # noqa: B023 - called at once
    if any(isinstance(o, Finding) or not all(bool(t.isfinite().all()) for t in o if t.is_floating_point()) for o in outputs):
        return None  # outside an operator's domain: says nothing
    share = min(changed_share(a, b, bench.tolerance) for a, b in zip(*outputs, strict=True))
    return Finding(Reason.LOW_ACTIVITY, f"centred inputs change {share:.3%} of an output") if share < LOW_ACTIVITY else None


def _centred(bench: Bench, seed: int) -> list:
    def centre(x: torch.Tensor) -> torch.Tensor:
        return x - x.mean() if x.is_floating_point() else x

    return torch.utils._pytree.tree_map_only(torch.Tensor, centre, make_inputs(bench.task, bench.device, seed))


def every_argument_matters(bench: Bench) -> Finding | None:
    """Each argument redrawn alone, or disturbed where get_inputs fixes it, moves some output beyond the tolerance."""
    fresh = make_inputs(bench.task, bench.device, DRAWS[1])
    effects = []
    for i, value in enumerate(bench.inputs):
        effects.append(max((_effect(bench, i, other) for other in _others(value, fresh[i])), default=1.0))
    bench.input_effect = tuple(effects)
    if len({id(x) for x in tensors_of(bench.inputs)}) < len(tensors_of(bench.inputs)):
        bench.flags += ("aliased_inputs",)
    if min(effects) == 0:
        return Finding(Reason.DEAD_INPUT, f"argument {effects.index(0)} can be replaced without a trace")
    return None


def _others(value: object, fresh: object) -> Iterator[object]:
    """What to put in an argument's place: a fresh draw; for one that is always the same, two disturbances of it."""
    if not tensors_of(value):
        return
    if not identical(tuple(tensors_of(value)), tuple(tensors_of(fresh))):
        yield fresh
        return
    if any(not x.is_floating_point() and x.dtype != torch.bool and x.device.type != "cpu" for x in tensors_of(value)):
        return  # offsets out of order are an assertion on a GPU, and the context is lost with it
    seed_all(_DISTURB_SEED)
    for disturb in (_shuffled, _shifted):
        yield torch.utils._pytree.tree_map_only(torch.Tensor, disturb, value)


def _shuffled(x: torch.Tensor) -> torch.Tensor:
    """The same values in another order: indices stay valid, masks keep their share."""
    return x.flatten()[torch.randperm(x.numel(), device=x.device)].reshape(x.shape)


def _shifted(x: torch.Tensor) -> torch.Tensor:
    if x.dtype == torch.bool:
        return ~x
    return x + x.std().nan_to_num(1.0) + 1 if x.is_floating_point() else x.flip(-1) if x.dim() else x


def _effect(bench: Bench, i: int, other: object) -> float:
    """Share of output elements that the other value moves; 1 where it is outside what the task can take: that says enough."""
    fixed = identical(tuple(tensors_of(other)), tuple(tensors_of(bench.inputs[i])))
    if fixed:
        return 1.0 if max(x.numel() for x in tensors_of(other)) <= 1 else 0.0
    output = attempt(lambda: as_tuple(bench.model(*bench.inputs[:i], other, *bench.inputs[i + 1 :])))
    if isinstance(output, Finding):
        return 1.0
    return max(changed_share(a, b, bench.tolerance) for a, b in zip(output, bench.outputs, strict=True))
