"""Operators that a kernel may leave out unseen: each call is answered by what would pass its shape on.

A call (ops6k.screen.calls) is answered by one of its arguments, by what its argument was made from (so two calls that undo each
other go together), by zeros, or by its own mean. Where every output then stays within the verifier's tolerance, the operator
is free. Seen under the given inputs, normal ones and ten times the scale: algebraic; under the given ones alone: inactive.
Only operators that the labels declare are judged: an epsilon that guards a division may go unseen. Plain arithmetic is
rejected only if every call of that operator can go.
"""

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from ops6k.labels import ARITHMETIC, key
from ops6k.records import Reason
from ops6k.screen import labelled
from ops6k.screen.bench import Bench
from ops6k.screen.calls import Watch, computes, on, tensors_in, within_domain
from ops6k.screen.compare import as_tuple
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import seed_all

MAX_CALLS = 64
"""Longer programs (unrolled recurrences) are judged on their first calls."""
_PROBE_SEED = 21

Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Bypass:
    """A way of answering a call: argument `i`; argument `i` of the earlier call `of`; or zeros, or its mean."""

    kind: str
    i: int = 0
    of: int = 0

    def __str__(self) -> str:
        return {"argument": f"its argument {self.i}", "made from": f"what its argument was made from (call {self.of})"}.get(
            self.kind, self.kind
        )


@dataclass
class Call:
    """One outermost call of forward."""

    number: int
    operator: str
    """labels.key of the function."""
    bypasses: tuple[Bypass, ...]
    in_place: bool
    idle: bool
    """It returned its argument as it is (dropout in eval mode): nothing to bypass."""


class Survey(Watch):
    """Numbers the calls that compute, and says how each could be bypassed."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.calls: list[Call] = []
        self.made_by: dict[int, tuple[weakref.ref, int, tuple[int, ...]]] = {}
        """id of a result -> the result, the call that made it, and how many elements each of that call's arguments has."""

    def answer(self, operator: str, exact: str, func: Callable, args: tuple, kwargs: dict) -> object:
        number, self.count = self.count, self.count + 1
        given = tensors_in((args, kwargs))
        versions = [_version(tensor) for tensor in given]
        result = func(*args, **kwargs)
        results = tensors_in(result)
        if results:
            self.made.append((operator, exact))
        if not results or not computes(operator):
            return result
        in_place = versions != [_version(tensor) for tensor in given]
        if _aliases(results, given) and not in_place:
            if any(result is argument for argument in args):
                self.calls.append(Call(number, operator, (), in_place, idle=True))
            return result
        first = results[0]
        alike = tuple(i for i, tensor in enumerate(given) if tensor.numel() == first.numel())
        ways = [Bypass("argument", i) for i in alike]
        for made, earlier, theirs in (self.made_by.get(id(tensor), (lambda: None, 0, ())) for tensor in given):
            if made() is not None and first.numel() in theirs and not in_place:
                ways.append(Bypass("made from", theirs.index(first.numel()), earlier))
        ways += [Bypass("zeros")] + ([Bypass("its mean")] if first.is_floating_point() and first.numel() > 1 else [])
        self.calls.append(Call(number, operator, tuple(ways), in_place, idle=False))
        self.made_by[id(first)] = (weakref.ref(first), number, tuple(tensor.numel() for tensor in given))
        return result


class Answered(Watch):
    """One call, by number, is answered by a bypass."""

    def __init__(self, call: Call, bypass: Bypass) -> None:
        super().__init__()
        self.call, self.bypass, self.count = call, bypass, 0
        self.kept: torch.Tensor | None = None

    def answer(self, operator: str, exact: str, func: Callable, args: tuple, kwargs: dict) -> object:
        number, self.count = self.count, self.count + 1
        args, kwargs = within_domain(operator, args, kwargs)
        if self.bypass.kind == "made from" and number == self.bypass.of:
            self.kept = tensors_in((args, kwargs))[self.bypass.i].clone()
        if number != self.call.number:
            return func(*args, **kwargs)
        if not self.call.in_place:
            return self._instead(func(*args, **kwargs), tensors_in((args, kwargs)))
        # On copies: a call in place must leave no trace.
        copied = torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, (args, kwargs))
        before, after = tensors_in((args, kwargs)), tensors_in(copied)
        versions = [_version(tensor) for tensor in after]
        result = func(*copied[0], **copied[1])
        answer = self._instead(result, before)
        for original, copy, version in zip(before, after, versions, strict=True):
            if _version(copy) != version:
                return original.copy_(tensors_in(answer)[0].reshape(original.shape))
        return answer

    def _instead(self, result: object, given: list[torch.Tensor]) -> object:
        """The result with the bypass for its first tensor and zeros for the others (places of a sort)."""
        leaves, spec = torch.utils._pytree.tree_flatten(result)
        at = next(i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor))
        first = leaves[at]
        values = {
            "argument": lambda: _as(given[self.bypass.i], first),
            "made from": lambda: _as(self.kept, first),
            "zeros": lambda: torch.zeros_like(first),
            "its mean": lambda: torch.full_like(first, first.float().mean().item()),
        }
        others = [torch.zeros_like(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        return torch.utils._pytree.tree_unflatten([*others[:at], values[self.bypass.kind](), *others[at + 1 :]], spec)


def _as(value: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """A copy (what follows may work in place on it) in the result's shape and dtype; places stay in range, or a device would stop at them."""
    value = value.reshape(result.shape).to(result.dtype, copy=True)
    return value if result.is_floating_point() or result.dtype == torch.bool else value.clamp(result.min(), result.max())


def _version(tensor: torch.Tensor) -> int:
    return -1 if tensor.is_inference() else tensor._version


def _aliases(results: list[torch.Tensor], given: list[torch.Tensor]) -> bool:
    """Whether the call made no new values: a view of an argument, or the argument."""
    storages = {t.untyped_storage().data_ptr() for t in given}
    return all(t.untyped_storage().data_ptr() in storages for t in results if t.numel())


def finding(bench: Bench) -> Finding | None:
    """The first declared operator that can go unseen; bench.op_effect is the smallest share that any operator moves."""
    declared = {key(op): op for op in bench.ops}
    survey = Survey()
    ran = attempt(lambda: _run(bench, survey, bench.inputs))
    if isinstance(ran, Finding):
        return ran
    mislabelled = labelled.in_calls(survey, bench.ops) if bench.ops else None
    if mislabelled is not None:  # in the dry run it called something else: it looks where it runs
        return mislabelled
    calls = [call for call in survey.calls[:MAX_CALLS] if call.operator in declared]
    idle = next((call for call in calls if call.idle), None)
    if idle is not None:
        bench.op_effect = 0.0
        return Finding(Reason.REMOVABLE_OP, f"{declared[idle.operator]} returns its argument as it is")
    effects = {call.number: _least_effect(bench, call) for call in calls}
    if effects:
        bench.op_effect = min(share for share, _ in effects.values())
    by_operator: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_operator[call.operator].append(call)
    unseen = {number: bypass for number, (share, bypass) in effects.items() if share == 0}
    undone = {bypass.of for bypass in unseen.values() if bypass.kind == "made from"}
    for operator, made in by_operator.items():
        free = [call for call in made if call.number in unseen]
        if free and (operator not in ARITHMETIC or all(call.number in unseen.keys() | undone for call in made)):
            return _verdict(bench, free[0], declared[operator], unseen[free[0].number])
    return None


def _least_effect(bench: Bench, call: Call) -> tuple[float, Bypass]:
    """Smallest share of output elements that a bypass of the call moves (of several outputs, the most), and which bypass."""
    least, which = 1.0, call.bypasses[0]
    for bypass in call.bypasses:
        replaced = attempt(lambda: _run(bench, Answered(call, bypass), bench.inputs))  # noqa: B023 - called at once
        if isinstance(replaced, Finding) or len(replaced) != len(bench.outputs):
            continue
        share = max(map(bench.changed, replaced, bench.outputs))
        if share < least:
            least, which = share, bypass
        if least == 0:
            break
    return least, which


def _run(bench: Bench, watch: Watch, inputs: list) -> Tensors:
    with on(watch, bench.task, bench.ops):
        return as_tuple(bench.model(*inputs))


def _verdict(bench: Bench, call: Call, label: str, bypass: Bypass) -> Finding:
    """Algebraic if the same bypass goes unseen under other inputs too."""
    message = f"{label} (call {call.number}) can be replaced by {bypass} unseen"
    if call.operator == "batchnorm":
        message += " (a fresh batch norm in eval mode is the identity: give it statistics and weights of its own)"
    for inputs in _probes(bench.inputs):
        outputs = attempt(lambda: as_tuple(bench.model(*inputs)))  # noqa: B023 - called at once
        if isinstance(outputs, Finding) or not all(bool(o.isfinite().all()) for o in outputs if o.is_floating_point()):
            continue  # outside the operator's domain: says nothing
        replaced = attempt(lambda: _run(bench, Answered(call, bypass), inputs))  # noqa: B023 - called at once
        if not isinstance(replaced, Finding) and max(map(bench.changed, replaced, outputs)) > 0:
            return Finding(Reason.INACTIVE_OP, f"{message} for the inputs given")
    return Finding(Reason.REMOVABLE_OP, message)


def _probes(inputs: list) -> Iterator[list]:
    """The inputs as standard normals, and ten times as large; integers and masks stay."""

    def normal(x: torch.Tensor) -> torch.Tensor:
        return torch.randn_like(x) if x.is_floating_point() else x

    seed_all(_PROBE_SEED)
    yield torch.utils._pytree.tree_map_only(torch.Tensor, normal, inputs)
    yield torch.utils._pytree.tree_map_only(torch.Tensor, lambda x: x * 10 if x.is_floating_point() else x, inputs)
