"""Whether the outputs answer to the inputs: all of them redrawn, one alone redrawn or disturbed, and centred ones."""

from collections.abc import Callable, Iterator
from functools import partial

import torch

from ops6k.labels import key
from ops6k.records import Reason
from ops6k.screen.bench import DRAWS, Bench
from ops6k.screen.calls import Guarded, on
from ops6k.screen.compare import as_tuple, changed_share, identical, part_of
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs, seed_all, tensors_of

LOW_ACTIVITY = 0.01
"""Fewer elements that change make an output as good as constant."""
SPREAD_SEEDS = (31, 32, 33)
SPREAD_BANDS = 3.0
"""The values of a reduction must spread over so many tolerance bands, over the draws of bench.DRAWS and these."""
FEW = 64
SUMMARY = 1000
"""Elements of the largest input for each one of an output, from which it is a summary; twice that for more than FEW."""
CENTRED = frozenset(
    "relu relu6 leakyrelu elu celu selu gelu silu abs clamp clampmin hardtanh threshold prelu rrelu softshrink hardshrink".split()
)
"""Operators that do nothing, or one thing, to inputs of one sign."""
MOST_WEIGHTS = 24
"""Parameters and buffers that are tried, each at the cost of a run."""
_DISTURB_SEED = 41


def reacts_to_inputs(bench: Bench) -> Finding | None:
    """Fresh inputs change at least 1 % of every output beyond the tolerance; summaries spread by more than it hides."""
    shares, mean = [], None
    bench.summaries = {i: [out.double()] for i, out in enumerate(bench.outputs) if _is_summary(bench, out)}
    for seed in DRAWS[1:]:
        arguments = make_inputs(bench.task, bench.device, seed)
        if _form(arguments) != _form(bench.inputs):
            return Finding(
                Reason.STRUCTURE, f"get_inputs varies between calls: {_form(bench.inputs)} and {_form(arguments)}"[:300]
            )
        if identical(tuple(tensors_of(arguments)), tuple(tensors_of(bench.inputs))):
            return Finding(Reason.FIXED_INPUTS, "get_inputs returns the same values at every call")
        output = attempt(lambda: as_tuple(bench.model(*arguments)))  # noqa: B023 - called at once
        if isinstance(output, Finding):
            return output
        shares.append([bench.changed(a, b, 2 * LOW_ACTIVITY) for a, b in zip(output, bench.outputs, strict=True)])
        bench.fresh = bench.fresh or tuple(part_of(part).clone() for part in output)
        parts = [part_of(part).float() / len(DRAWS[1:]) for part in output]
        mean = parts if mean is None else [a + b for a, b in zip(mean, parts, strict=True)]
        for i, drawn in bench.summaries.items():
            drawn.append(output[i].double())
    bench.fresh_mean = tuple(mean)
    per_output = [sum(column) / len(column) for column in zip(*shares, strict=True)]
    bench.output_change = min(per_output)
    return _change_finding(bench, per_output.index(bench.output_change)) or _spread_finding(bench) or _centred_finding(bench)


def _form(arguments: list) -> list[tuple]:
    return [(tuple(x.shape), str(x.dtype)) for x in tensors_of(arguments)]


def _is_summary(bench: Bench, output: torch.Tensor) -> bool:
    """Whether each element is made of very many: an output of few elements, or far fewer than the largest input has."""
    largest = max(x.numel() for x in tensors_of(bench.inputs))
    few = SUMMARY if output.numel() <= FEW else 2 * SUMMARY
    return output.is_floating_point() and largest > few * output.numel()


def _change_finding(bench: Bench, worst: int) -> Finding | None:
    if bench.output_change == 0:
        return Finding(Reason.CONSTANT_OUTPUT, f"output {worst} stays within {bench.tolerance:g} whatever the inputs")
    if bench.output_change < LOW_ACTIVITY:
        return Finding(Reason.LOW_ACTIVITY, f"fresh inputs change {bench.output_change:.3%} of output {worst}")
    return None


def _spread_finding(bench: Bench) -> Finding | None:
    """Sums and means over many independent numbers hardly vary: their mean over the draws would be a free answer."""
    for seed in SPREAD_SEEDS if bench.summaries else ():
        output = attempt(lambda: as_tuple(bench.model(*make_inputs(bench.task, bench.device, seed))))  # noqa: B023 - called at once
        if isinstance(output, Finding):
            return output
        for i, drawn in bench.summaries.items():
            drawn.append(output[i].double())
    for i, drawn in bench.summaries.items():
        values = torch.stack(drawn)
        band = bench.tolerance * (1 + values.mean(dim=0).abs())
        bands = ((values.amax(dim=0) - values.amin(dim=0)) / band).median().item()
        if bands < SPREAD_BANDS:
            message = f"output {i} spreads over {bands:.2g} tolerance bands in {len(drawn)} draws: its mean passes"
            return Finding(Reason.FREE_ANSWER, message)
    return None


def _centred_finding(bench: Bench) -> Finding | None:
    """Where every input is of one sign, an activation may do nothing to it that it would do to others."""
    floats = [x for x in tensors_of(bench.inputs) if x.is_floating_point()]
    if not floats or not {key(op) for op in bench.ops} & CENTRED or any(bool((x < 0).any()) for x in floats):
        return None
    outputs = [attempt(lambda: _guarded(bench, bench.model, _centred(bench, seed))) for seed in DRAWS[:2]]  # noqa: B023 - called at once
    if any(isinstance(o, Finding) or not all(bool(t.isfinite().all()) for t in o if t.is_floating_point()) for o in outputs):
        return None  # outside an operator's domain: says nothing
    share = min(changed_share(a, b, bench.tolerance) for a, b in zip(*outputs, strict=True))
    return Finding(Reason.LOW_ACTIVITY, f"centred inputs change {share:.3%} of an output") if share < LOW_ACTIVITY else None


def _centred(bench: Bench, seed: int) -> list:
    def centre(x: torch.Tensor) -> torch.Tensor:
        return x - x.mean() if x.is_floating_point() else x

    return torch.utils._pytree.tree_map_only(torch.Tensor, centre, make_inputs(bench.task, bench.device, seed))


def _guarded(bench: Bench, model: Callable[..., object], arguments: list) -> tuple[torch.Tensor, ...]:
    """The outputs for numbers that the task does not give itself."""
    with on(Guarded(), bench.task, bench.ops):
        return as_tuple(model(*arguments))


def every_argument_matters(bench: Bench) -> Finding | None:
    """Each tensor redrawn alone, or disturbed where get_inputs fixes it, moves some output beyond the tolerance."""
    fresh = make_inputs(bench.task, bench.device, DRAWS[1])
    given, spec = torch.utils._pytree.tree_flatten(bench.inputs)
    drawn = torch.utils._pytree.tree_leaves(fresh)

    def effect(leaf: int, other: torch.Tensor) -> float:
        return _effect(
            bench, given[leaf], other, torch.utils._pytree.tree_unflatten([*given[:leaf], other, *given[leaf + 1 :]], spec)
        )

    effects, leaf = [], 0
    for value in bench.inputs:
        count, least = len(torch.utils._pytree.tree_leaves(value)), 1.0
        for i in range(leaf, leaf + count):
            if isinstance(given[i], torch.Tensor):
                least = min(least, max((effect(i, other) for other in _others(given[i], drawn[i])), default=1.0))
        effects.append(least)
        leaf += count
    bench.input_effect = tuple(effects)
    if len({id(x) for x in tensors_of(bench.inputs)}) < len(tensors_of(bench.inputs)):
        bench.flags += ("aliased_inputs",)
    if min(effects) == 0:
        return Finding(Reason.DEAD_INPUT, f"argument {effects.index(0)}, or a tensor in it, can be replaced without a trace")
    return None


def every_weight_matters(bench: Bench) -> Finding | None:
    """Each parameter and floating buffer changed by its own scale, one way or the other, moves some output beyond the tolerance."""
    seed_all(_DISTURB_SEED)
    state = [*bench.model.named_parameters(), *bench.model.named_buffers()]
    for name, value in [
        (name, value) for name, value in state if (value.is_floating_point() or value.is_complex()) and value.numel()
    ][:MOST_WEIGHTS]:
        if not any(_weight_effect(bench, name, changed) > 0 for changed in _changed(value)):
            return Finding(Reason.UNUSED, f"{name} can be anything: no output moves")
    return None


def _weight_effect(bench: Bench, name: str, changed: torch.Tensor) -> float:
    model = partial(torch.func.functional_call, bench.model, {name: changed})
    output = attempt(lambda: _guarded(bench, model, [tuple(bench.inputs)]))
    return 1.0 if isinstance(output, Finding) else max(map(bench.changed, output, bench.outputs))


def _changed(x: torch.Tensor) -> Iterator[torch.Tensor]:
    """Every element moved by its tensor's scale or more, then the other way; where none is negative up, then towards zero."""
    scale = 1.0 + (x.abs().float().std().item() if x.numel() > 1 else 0.0)
    by = scale * (1.0 + torch.rand_like(x))
    if x.is_complex():
        yield x + by
        yield x - by
    elif bool((x >= 0).all()):  # variances stay variances
        yield x + by
        yield 0.1 * x
    else:
        by *= torch.where(torch.rand_like(x) < 0.5, -1.0, 1.0)
        yield x + by
        yield x - by


def _others(value: torch.Tensor, fresh: torch.Tensor) -> Iterator[torch.Tensor]:
    """What to put in a tensor's place: a fresh draw; for one that is always the same, two disturbances of it."""
    if not identical((value,), (fresh,)):
        yield fresh
        return
    if not value.is_floating_point() and value.dtype != torch.bool and value.device.type != "cpu":
        return  # offsets out of order are an assertion on a GPU, and the context is lost with it
    seed_all(_DISTURB_SEED)
    yield _shuffled(value)
    yield _shifted(value)


def _shuffled(x: torch.Tensor) -> torch.Tensor:
    """The same values in another order: indices stay valid, masks keep their share."""
    return x.flatten()[torch.randperm(x.numel(), device=x.device)].reshape(x.shape)


def _shifted(x: torch.Tensor) -> torch.Tensor:
    if x.dtype == torch.bool:
        return ~x
    return x + x.std().nan_to_num(1.0) + 1 if x.is_floating_point() else x.flip(-1) if x.dim() else x


def _effect(bench: Bench, value: torch.Tensor, other: torch.Tensor, arguments: list) -> float:
    """Share of output elements that the other value moves; 1 where it is outside what the task can take: that says enough."""
    if identical((other,), (value,)):
        return 1.0 if other.numel() <= 1 else 0.0
    output = attempt(lambda: _guarded(bench, bench.model, arguments))
    return 1.0 if isinstance(output, Finding) else max(map(bench.changed, output, bench.outputs))
