"""Operators that a kernel may leave out unseen: each call into torch is replaced by what would pass its shape on.

The model runs under a torch function mode that sees every outermost call (F.relu, x @ y, torch.sum) in order; run k has call
k's result replaced by one of its arguments, zeros, or its own mean. Where every output then stays within the verifier's
tolerance, the operator is free. Seen under the given inputs, normal ones and ten times the scale: algebraic; under the given
ones alone: inactive.
Only operators that the labels declare are judged: an epsilon that guards a division may go unseen. Plain arithmetic is
rejected only if every call of that operator can go.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from ops6k.labels import ARITHMETIC, OPERATORS, SHAPE, key
from ops6k.records import Reason
from ops6k.screen.bench import Bench
from ops6k.screen.compare import as_tuple, changed_share
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import seed_all

MAX_CALLS = 64
"""Longer programs (unrolled recurrences) are judged on their first calls."""
_PROBE_SEED = 21
_PYTHON = {f"__{name}__": squashed for name, squashed in {
    "add": "add", "radd": "add", "iadd": "add", "sub": "sub", "rsub": "sub", "mul": "mul", "rmul": "mul", "imul": "mul", "truediv": "div",
    "rtruediv": "div", "div": "div", "rdiv": "div", "floordiv": "floordivide", "mod": "remainder", "pow": "pow", "rpow": "pow",
    "matmul": "matmul", "rmatmul": "matmul", "neg": "neg", "and": "bitwiseand", "or": "bitwiseor", "xor": "bitwisexor", "invert": "bitwisenot",
}.items()}  # fmt: skip
_PYTHON |= {f"__{squashed}__": squashed for squashed in OPERATORS.values()}

Tensors = tuple[torch.Tensor, ...]


@dataclass
class Call:
    """One outermost call of forward."""

    number: int
    operator: str
    """labels.key of the function."""
    bypasses: int
    """How many ways of passing its shape on there are."""


class _Watch(TorchFunctionMode):
    """Numbers the calls that compute and, where told, answers one of them by a bypass."""

    def __init__(self, replace: int | None = None, bypass: int = 0) -> None:
        super().__init__()
        self.replace, self.bypass = replace, bypass
        self.calls: list[Call] = []
        self.passed_on: list[Call] = []
        """Calls that returned their argument as it is (dropout in eval mode): nothing to bypass."""

    def __torch_function__(self, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None) -> object:
        result = func(*args, **(kwargs or {}))
        name = _operator(func)
        if name is None or not _tensors(result):
            return result
        if _aliases(result, args, kwargs or {}):
            if self.replace is None and any(result is argument for argument in args):
                self.passed_on.append(Call(-1, name, 0))
            return result
        number = len(self.calls)
        ways = list(_bypasses(result, args, kwargs or {})) if self.replace in (None, number) else []
        self.calls.append(Call(number, name, len(ways)))
        return ways[self.bypass][1] if number == self.replace else result


def _operator(func: Callable) -> str | None:
    name = (resolve_name(func) or getattr(func, "__name__", "")).split(".")[-1]
    squashed = _PYTHON.get(name)
    if squashed is None and name.startswith("__"):
        return None
    squashed = squashed or key(name)
    return None if squashed in SHAPE - {"stack", "cat", "tril", "triu", "flip", "repeat", "diagonal"} else squashed


def _aliases(result: object, args: tuple, kwargs: dict) -> bool:
    """Whether the call made no new values: a view of an argument, or the argument."""
    storages = {t.untyped_storage().data_ptr() for t in _tensors((args, kwargs))}
    return all(t.untyped_storage().data_ptr() in storages for t in _tensors(result) if t.numel())


def _tensors(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _bypasses(result: object, args: tuple, kwargs: dict) -> Iterator[tuple[str, object]]:
    """(name, value) of each thing that has the result's shape and costs nothing."""
    first = _tensors(result)[0]

    def instead(value: torch.Tensor) -> object:
        # Of several results (values and indices) the first carries the numbers; the others stay as they are.
        if isinstance(result, torch.Tensor):
            return value
        leaves, spec = torch.utils._pytree.tree_flatten(result)
        at = next(i for i, leaf in enumerate(leaves) if leaf is first)
        return torch.utils._pytree.tree_unflatten([*leaves[:at], value, *leaves[at + 1 :]], spec)

    for i, tensor in enumerate(_tensors((args, kwargs))):
        if tensor.shape == first.shape:
            yield f"argument {i}", instead(tensor.to(first.dtype))
    yield "zeros", instead(torch.zeros_like(first))
    if first.is_floating_point() and first.numel() > 1:
        yield "its mean", instead(torch.full_like(first, first.float().mean().item()))


def finding(bench: Bench) -> Finding | None:
    """The first declared operator that can go unseen; bench.op_effect is the smallest share that any operator moves."""
    declared = {key(op): op for op in bench.ops if not op.startswith("transformers.")}
    watch = attempt(lambda: _watched(bench))
    if isinstance(watch, Finding):
        return watch
    idle = next((call for call in watch.passed_on if call.operator in declared), None)
    if idle is not None:
        bench.op_effect = 0.0
        return Finding(Reason.REMOVABLE_OP, f"{declared[idle.operator]} returns its argument as it is")
    calls = watch.calls[:MAX_CALLS]
    effects = {
        call.number: _least_effect(bench, call, bench.inputs, bench.outputs) for call in calls if call.operator in declared
    }
    if effects:
        bench.op_effect = min(share for share, _ in effects.values())
    by_operator: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        if call.number in effects:
            by_operator[call.operator].append(call)
    for operator, made in by_operator.items():
        free = [call for call in made if effects[call.number][0] == 0]
        if free and (operator not in ARITHMETIC or len(free) == len(made)):
            return _verdict(bench, free[0], declared[operator], effects[free[0].number][1])
    return None


def _watched(bench: Bench) -> _Watch:
    with _Watch() as watch:
        bench.model(*bench.inputs)
    return watch


def _least_effect(bench: Bench, call: Call, inputs: list, outputs: Tensors) -> tuple[float, int]:
    """Smallest share of output elements that a bypass of the call moves, and which bypass; the largest over the outputs."""
    least, which = 1.0, 0
    for bypass in range(call.bypasses):
        replaced = attempt(lambda: _run_bypassed(bench, call.number, bypass, inputs))  # noqa: B023 - called at once
        if isinstance(replaced, Finding) or len(replaced) != len(outputs):
            continue
        share = max(changed_share(a, b, bench.tolerance) for a, b in zip(replaced, outputs, strict=True))
        if share < least:
            least, which = share, bypass
        if least == 0:
            break
    return least, which


def _run_bypassed(bench: Bench, number: int, bypass: int, inputs: list) -> Tensors:
    with _Watch(number, bypass):
        return as_tuple(bench.model(*inputs))


def _verdict(bench: Bench, call: Call, label: str, bypass: int) -> Finding:
    """Algebraic if the same bypass goes unseen under other inputs too."""
    names = ["an argument"] * (call.bypasses - 2) + ["zeros", "its mean"]
    message = f"{label} (call {call.number}) can be replaced by {names[bypass] if bypass < len(names) else 'an argument'} unseen"
    for inputs in _probes(bench.inputs):
        outputs = attempt(lambda: as_tuple(bench.model(*inputs)))  # noqa: B023 - called at once
        if isinstance(outputs, Finding) or not all(bool(o.isfinite().all()) for o in outputs if o.is_floating_point()):
            continue  # outside the operator's domain: says nothing
        replaced = attempt(lambda: _run_bypassed(bench, call.number, bypass, inputs))  # noqa: B023 - called at once
        if isinstance(replaced, Finding):
            continue
        if max(changed_share(a, b, bench.tolerance) for a, b in zip(replaced, outputs, strict=True)) > 0:
            return Finding(Reason.INACTIVE_OP, f"{message} for the inputs given")
    return Finding(Reason.REMOVABLE_OP, message)


def _probes(inputs: list) -> Iterator[list]:
    """The inputs as standard normals, and ten times as large; integers and masks stay."""

    def normal(x: torch.Tensor) -> torch.Tensor:
        return torch.randn_like(x) if x.is_floating_point() else x

    seed_all(_PROBE_SEED)
    yield torch.utils._pytree.tree_map_only(torch.Tensor, normal, inputs)
    yield torch.utils._pytree.tree_map_only(torch.Tensor, lambda x: x * 10 if x.is_floating_point() else x, inputs)
