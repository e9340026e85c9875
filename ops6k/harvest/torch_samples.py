"""Example calls of torch operators: torch's own sample inputs first, own recipes where it has none.

Runs in a harvest worker: op_db and module_db are tables for torch's tests that live in torch.testing._internal.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cache

from ops6k.harvest.torch_names import label_of, resolve
from ops6k.harvest.torch_recipes import has_recipe, recipe
from ops6k.harvest.trials import Call, tensors
from ops6k.labels import key


def calls(label: str, dtype: str) -> Iterator[Call]:
    """Calls of an operator with tensors of one dtype."""
    if has_recipe(label):
        return _own_calls(label, dtype)
    return _module_calls(label, dtype) if label.startswith("nn.") else _function_calls(label, dtype)


@cache
def _by_label() -> dict[str, list]:
    """Entries of the operator database by label, by alias and (functions of several names) by key."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list] = {}
    for op in op_db:
        for name in [label_of(op.name), *(label_of(alias.name) for alias in op.aliases)]:
            found.setdefault(name, []).append(op)
    for op in op_db:
        if not op.name.startswith(("masked.", "_", "signal.")):
            found.setdefault(key(label_of(op.name)), []).append(op)
    return found


def _function_calls(label: str, dtype: str) -> Iterator[Call]:
    for op in _by_label().get(label, _by_label().get(key(label), [])):
        # A wrapper that seeds before each call would hide that the function is random.
        yield from _samples(op, resolve(label) if _seeds(op.op) else op.op, dtype)


def _seeds(function: Callable) -> bool:
    """Whether it is one of the wrappers of torch's tests around wrapper_set_seed."""
    code = getattr(function, "__code__", None)
    return code is not None and "wrapper_set_seed" in code.co_names


def _samples(op: object, function: Callable, dtype: str) -> Iterator[Call]:
    import torch

    if not op.supports_dtype(getattr(torch, dtype), "cpu"):
        return
    # Not op.sample_inputs: it seeds anew for each sample by way of the whole call stack, ten times the cost of the calls.
    for sample in op.sample_inputs_func(op, "cpu", getattr(torch, dtype), False):
        call = Call(function, (sample.input, *sample.args), dict(sample.kwargs))
        if _is_plain(call) and not _switches_randomness_on(call):
            yield call


def _is_plain(call: Call) -> bool:
    import torch

    return all(tensor.layout is torch.strided for tensor in tensors((call.args, call.kwargs)))


def _switches_randomness_on(call: Call) -> bool:
    """What is random only on request is judged without: attention's dropout_p, the training flag of rrelu and alpha_dropout."""
    try:
        signature = inspect.signature(call.function)
        given = signature.bind(*call.args, **call.kwargs).arguments
    except (TypeError, ValueError):  # a builtin without signature, or the table's wrapper of one
        given, signature = call.kwargs, None
    if given.get("dropout_p"):
        return True
    by_default_off = (
        signature is not None and "training" in signature.parameters and signature.parameters["training"].default is False
    )
    return by_default_off and bool(given.get("training"))


@cache
def _modules() -> dict[str, list]:
    from torch.testing._internal.common_modules import module_db

    found: dict[str, list] = {}
    for info in module_db:
        found.setdefault(f"nn.{info.module_cls.__name__}", []).append(info)
    return found


def _module_calls(label: str, dtype: str) -> Iterator[Call]:
    import torch

    # The table claims float32 and float64 for most modules; what else works shows when it is tried.
    for info in _modules().get(label, []):
        inputs = info.module_inputs_func(info, device="cpu", dtype=getattr(torch, dtype), requires_grad=False, training=True)
        for sample in inputs:
            if sample.forward_input is not None:
                yield _built(info.module_cls, sample, dtype)


def _built(kind: type, sample: object, dtype: str) -> Call:
    import torch

    built = kind(*sample.constructor_input.args, **sample.constructor_input.kwargs)
    return Call(built.to(getattr(torch, dtype)), tuple(sample.forward_input.args), dict(sample.forward_input.kwargs))


def _own_calls(label: str, dtype: str) -> Iterator[Call]:
    for call in recipe(label, dtype):
        function = resolve(label)
        yield Call(function(*call.build) if call.build is not None else function, call.args, call.kwargs)
