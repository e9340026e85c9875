"""One class of transformers, built small, called and described. Runs in a harvest worker."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from types import ModuleType

from ops6k.harvest import categories, describe
from ops6k.harvest.arguments import calls_of, constructor_values
from ops6k.harvest.configs import configurations
from ops6k.harvest.examples import Example, features
from ops6k.harvest.trials import DTYPES, FAILURES, Call, Seen, first_line, observe, result, seed, size_of, tensors
from ops6k.records import Operator
from ops6k.store import to_plain

NOT_IMPORTED = "does not import: "
CONFIGURATIONS = 3
NEIGHBOURS = 12
"""Combinations of arguments that are looked at for further ranks."""
MAX_PARAMETERS = 20_000_000
"""Larger instances (a family whose sizes do not shrink) are not built."""
MAX_FLOPS = 1_000_000_000
MAX_ELEMENTS = 50_000_000
"""Of one call; a float16 convolution of 20 GFLOP takes 12 s on a CPU."""


def harvested(entry: str) -> dict:
    """The Operator that `module:Class` names, as plain values; never raises for what the class does.

    A module that does not import gives a note that starts with NOT_IMPORTED.
    """
    import torch

    torch.set_num_threads(1)
    _refuse_whole_models()
    module_name, _, name = entry.partition(":")
    try:
        module = import_module(module_name)
        kind = getattr(module, name)
    except FAILURES as error:
        return to_plain(_described(module_name, name, None, Seen(failure=NOT_IMPORTED + first_line(error))))
    if not _is_part(kind):
        return to_plain(
            _described(module_name, name, None, Seen(failure="no module of its own: a whole model or a replaced class"))
        )
    return to_plain(_described(module_name, name, kind, _seen(module, kind)))


def _refuse_whole_models() -> None:
    """From here on a class that builds a whole model inside itself fails at once, and not after minutes."""
    from transformers import PreTrainedModel

    def refused(*_: object, **__: object) -> None:
        raise ValueError("builds a whole model")

    PreTrainedModel.__init__ = refused


def _described(module: str, name: str, kind: type | None, seen: Seen) -> Operator:
    from transformers import __version__

    return Operator(
        name=f"transformers.{name}",
        library="transformers",
        version=__version__,
        module=module,
        kind="module",
        category=categories.of_class(name),
        signature=describe.signature(name, kind) if kind else "",
        doc=describe.doc_line(kind) if kind else "",
        arity=seen.arity,
        ranks=seen.ranks,
        dtypes=seen.dtypes,
        stochastic=seen.stochastic,
        usable=not seen.failure,
        note=seen.failure,
        source_hash=None,  # the harvest has read the source already
    )


def _is_part(kind: object) -> bool:
    from torch import nn
    from transformers import PreTrainedModel

    return inspect.isclass(kind) and issubclass(kind, nn.Module) and not issubclass(kind, PreTrainedModel)


def _seen(module: ModuleType, kind: type) -> Seen:
    """What the first configuration with a successful call shows."""
    failure = ""
    for config in _configs(module, kind):
        found, reason = _working_call(kind, config)
        if found is not None:
            instance, number = found
            return observe(lambda dtype, instance=instance, number=number: _calls(instance, number, dtype))
        failure = failure or reason
    return Seen(failure=failure or "no configuration of its family can be made")


def _configs(module: ModuleType, kind: type) -> Iterator[object | None]:
    annotations = [
        p.annotation for n, p in inspect.signature(kind.__init__).parameters.items() if n == "config" or n.endswith("_config")
    ]
    if annotations:
        yield from islice(configurations(module, annotations[0]), CONFIGURATIONS)
    else:
        yield None


def _working_call(kind: type, config: object | None) -> tuple[tuple[object, int] | None, str]:
    """An instance and the number of its first combination of arguments that gives a tensor, or why the first call failed."""
    import torch

    failure = ""
    try:
        _require_small(kind, config)
        instance = _built(kind, config)
        combinations = calls_of(instance)
    except FAILURES as error:
        return None, first_line(error)
    for number, examples in enumerate(combinations):
        try:
            call = _call(instance, examples, torch.float32)
            if tensors(result(call)):
                excess = _excess(call)
                return (None, excess) if excess else ((instance, number), "")
            failure = failure or "returns no tensor"
        except FAILURES as error:
            failure = failure or first_line(error)
    return None, failure or "no call to try"


def _excess(call: Call) -> str:
    """Why a call is too large for an example, or empty. A limit in seconds would depend on the machine."""
    flops, elements = size_of(call)
    if flops <= MAX_FLOPS and elements <= MAX_ELEMENTS:
        return ""
    return f"too large even when its configuration is small: {flops / 1e9:.1f} GFLOP, {elements / 1e6:.0f} million elements"


def _call(instance: object, examples: dict[str, Example], dtype: object) -> Call:
    seed()
    size = features(instance)
    return Call(instance, (), {name: example.made(size, dtype) for name, example in examples.items()})


def _built(kind: type, config: object | None) -> object:
    """An instance in training mode, small numbers as weights: some classes leave theirs uninitialised."""
    import torch

    seed()
    instance = kind(**constructor_values(kind, config))
    with torch.no_grad():
        for parameter in instance.parameters():
            parameter.normal_(0, 0.1) if parameter.is_floating_point() else None
    return instance


def _require_small(kind: type, config: object | None) -> None:
    """Raises ValueError for what would have more than MAX_PARAMETERS, found without allocating them."""
    import torch

    values = constructor_values(kind, config)
    try:
        with torch.device("meta"):
            size = sum(parameter.numel() for parameter in kind(**values).parameters())
    except FAILURES:
        return  # not every constructor works without data; the child's memory limit stands behind this
    if size > MAX_PARAMETERS:
        raise ValueError(f"too large even when its configuration is small: {size / 1e6:.0f} million parameters")


def _calls(instance: object, number: int, dtype: str) -> Iterator[Call]:
    """The call that worked, then its neighbours (other ranks of the first argument), in one dtype."""
    import torch

    target = getattr(torch, dtype)
    if not target.is_floating_point and next(instance.parameters(), None) is not None:
        return
    instance.to(target)
    combinations = list(calls_of(instance))
    yield _call(instance, combinations[number], target)
    if dtype == DTYPES[0]:
        for position in range(min(NEIGHBOURS, len(combinations))):
            if position != number:
                yield _call(instance, combinations[position], target)
