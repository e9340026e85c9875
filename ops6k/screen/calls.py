"""The calls that a forward makes, counted as a person would: a function of torch, a method of a tensor, a module of torch.nn
as one call with all that is in it, and likewise a helper of the task's own that stands for a `transformers.` label.

Seen by a torch function mode while the model runs, so it does not matter how the source spells them (lists of layers, map,
default values, lambdas, inheritance). What helpers and torch's modules do inside is their own business.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode, handle_torch_function, resolve_name

from ops6k.labels import OPERATORS, SHAPE, key
from ops6k.screen.load import NAME, Loaded

_PYTHON = {f"__{name}__": squashed for name, squashed in {
    "add": "add", "radd": "add", "iadd": "add", "sub": "sub", "rsub": "sub", "isub": "sub", "mul": "mul", "rmul": "mul", "imul": "mul",
    "truediv": "div", "rtruediv": "div", "itruediv": "div", "div": "div", "rdiv": "div", "idiv": "div", "floordiv": "floordivide",
    "rfloordiv": "floordivide", "ifloordiv": "floordivide", "mod": "remainder", "rmod": "remainder", "imod": "remainder", "pow": "pow",
    "rpow": "pow", "ipow": "pow", "matmul": "matmul", "rmatmul": "matmul", "imatmul": "matmul", "neg": "neg", "abs": "abs",
    "and": "bitwiseand", "rand": "bitwiseand", "iand": "bitwiseand", "or": "bitwiseor", "ror": "bitwiseor", "ior": "bitwiseor",
    "xor": "bitwisexor", "rxor": "bitwisexor", "ixor": "bitwisexor", "invert": "bitwisenot", "reversed": "flip",
}.items()}  # fmt: skip
_PYTHON |= {f"__{squashed}__": squashed for squashed in OPERATORS.values()}

MAKES_VALUES = frozenset(("stack", "cat", "tril", "triu", "flip", "repeat", "diagonal"))
"""Of labels.SHAPE, what a kernel would have to do work for."""
_NO_UNITS = ("torch.nn.modules.container", "torch.nn.utils.parametrize")
_PAD_MODES = {"constant": "constantpad", "reflect": "reflectionpad", "replicate": "replicationpad", "circular": "circularpad"}


class Watch(TorchFunctionMode):
    """What is called while the mode is on; subclasses answer in a call's place by overriding `answer`."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[str, str]] = []
        """(labels.key, exact squashed name) of every outermost call that returns a tensor."""
        self.reached: set[str] = set()
        """labels.key of all calls, and of the modules inside those that were called."""
        self.idle: list[str] = []
        """Arithmetic with a constant that leaves its tensor as it is: `mul by 1.0`."""

    def __torch_function__(self, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None) -> object:
        kwargs = kwargs or {}
        operator, exact = names_of(func, args, kwargs)
        if operator is None:
            return func(*args, **kwargs)
        self.reached.add(operator)
        if isinstance(func, torch.nn.Module):
            self.reached |= _inside(func)
        return self.answer(operator, exact, func, args, kwargs)

    def answer(self, operator: str, exact: str, func: Callable, args: tuple, kwargs: dict) -> object:
        result = func(*args, **kwargs)
        if tensors_in(result):
            self.made.append((operator, exact))
        if changes_nothing(operator, func, args, result):
            self.idle.append(f"{operator} by {args[1]}")
        return result


def changes_nothing(operator: str, func: Callable, args: tuple, result: object) -> bool:
    """x * 1.0, x + 0: a cast by promotion (of integers, times 1.0) is something, and so is 1 / x."""
    neutral = _NEUTRAL.get(operator)
    if neutral is None or len(args) != 2 or isinstance(args[1], bool) or getattr(func, "__name__", "") in _REVERSED:
        return False
    given, constant = args
    tensors = isinstance(given, torch.Tensor) and isinstance(result, torch.Tensor) and given.dtype == result.dtype
    return tensors and isinstance(constant, int | float) and constant == neutral


_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "pow": 1}
_REVERSED = frozenset("__rsub__ __rdiv__ __rtruediv__ __rpow__ rsub".split())


@contextlib.contextmanager
def on(watch: Watch, task: Loaded, ops: tuple[str, ...]) -> Iterator[None]:
    """The watch sees what is called in here. ops: labels; those of transformers name helpers of the task."""
    helpers = {op.split(".")[-1].lower().replace("_", ""): key(op) for op in ops if op.startswith("transformers.")}

    def call(module: torch.nn.Module, *args: object, **kwargs: object) -> object:
        if type(module).__module__.startswith("torch."):
            watch.reached.add(key(type(module).__name__))
        if helper := _helper(type(module), helpers):
            watch.reached.add(helper)
        if not (helper or _of_torch(module)) or not torch._C._is_torch_function_mode_enabled():
            return plain_call(module, *args, **kwargs)
        return handle_torch_function(_as_unit(module, helper), (), *args, **kwargs)

    plain_call = torch.nn.Module.__call__
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(torch.nn.Module, "__call__", call))
        for name, value in list(task.names.items()):
            helper = _helper(value, helpers) if isinstance(value, FunctionType) else None
            if helper:
                stack.enter_context(patch.dict(task.names, {name: _helper_function(value, helper, watch)}))
        stack.enter_context(watch)
        yield


def _helper(value: type | FunctionType, helpers: dict[str, str]) -> str | None:
    return helpers.get(value.__name__.lower().replace("_", "")) if value.__module__ == NAME else None


def _as_unit(module: torch.nn.Module, helper: str | None) -> Callable:
    """What stands for the call: the module, or for a helper a function of its label's name."""
    return module if helper is None else _named(lambda *args, **kwargs: module(*args, **kwargs), helper)


def _helper_function(function: FunctionType, helper: str, watch: Watch) -> Callable:
    unit = _named(lambda *args, **kwargs: function(*args, **kwargs), helper)

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        watch.reached.add(helper)
        if not torch._C._is_torch_function_mode_enabled():
            return function(*args, **kwargs)
        return handle_torch_function(unit, (), *args, **kwargs)

    return call


def _named(function: Callable, helper: str) -> Callable:
    function.__name__ = helper
    return function


def _of_torch(module: torch.nn.Module) -> bool:
    """Whether its forward is torch's own, and does more than call what is in it."""
    home = type(module).forward.__module__
    return home.startswith("torch.") and home not in _NO_UNITS


def _library_class(module: torch.nn.Module) -> type:
    return next(cls for cls in type(module).__mro__ if cls.__module__.startswith("torch.") and cls.__module__ not in _NO_UNITS)


def _inside(module: torch.nn.Module) -> set[str]:
    """Keys of what a module of torch is made of: layers, and functions that it was given."""
    found = set()
    for part in module.modules():
        found.add(key(type(part).__name__))
        if hasattr(part, "activation"):  # of a TransformerEncoderLayer: a function that it was given
            found.add(key(getattr(part.activation, "__name__", "")))
    return found


def names_of(func: Callable, args: tuple = (), kwargs: dict | None = None) -> tuple[str | None, str]:
    """(labels.key, exact squashed name) of what is called; (None, "") for what is no operator (sizes, attributes)."""
    if isinstance(func, torch.nn.Module):
        name = _library_class(func).__name__
        return key(name), squashed(name)
    if isinstance(func, torch._ops.OpOverload):
        return None, ""  # the trace's own work
    if func.__name__.startswith("transformers."):
        return func.__name__, func.__name__
    # torch.mm goes by the name of its sparse alias.
    name = (resolve_name(func) or getattr(func, "__name__", "")).split(".")[-1].replace("spmm", "mm")
    operator = _PYTHON.get(name)
    if operator is None and name.startswith("__"):
        return None, ""
    if name == "pad":
        mode = (kwargs or {}).get("mode", args[2] if len(args) > 2 else "constant")
        return "pad", _PAD_MODES.get(mode, "pad")
    return (operator, operator) if operator else (key(name), squashed(name))


def within_domain(operator: str, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Arguments with numbers that the operator's kernel would stop the device at brought into its domain.

    A CPU raises an error where a GPU loses its context, and with it all that is still to be judged. Needed where we change
    what an operator is given.
    """
    if operator in ("binarycrossentropy", "quantile", "nanquantile"):  # probabilities
        keep = 1 if "quantile" in operator else 0
        part = tuple(torch.clamp(x, 0.0, 1.0) if i >= keep and isinstance(x, torch.Tensor) else x for i, x in enumerate(args[:2]))
        given = {
            k: torch.clamp(x, 0.0, 1.0) if k in ("q", "target", "input")[keep:] and isinstance(x, torch.Tensor) else x
            for k, x in kwargs.items()
        }
        return (*part, *args[2:]), given
    if operator in ("gather", "indexselect", "takealongdim", "embedding"):  # places
        table = next((x for x in tensors_in((args, kwargs)) if x.is_floating_point()), None)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        if table is not None and table.dim() and (isinstance(dim, int) or operator == "embedding"):
            last = table.shape[dim if isinstance(dim, int) else 0] - 1

            def placed(x: torch.Tensor) -> torch.Tensor:
                return x.clamp(0, last) if x.dtype in (torch.int64, torch.int32) else x

            return torch.utils._pytree.tree_map_only(torch.Tensor, placed, (args, kwargs))
    return args, kwargs


class Guarded(Watch):
    """Runs that are given other numbers than the task gives itself."""

    def answer(self, operator: str, exact: str, func: Callable, args: tuple, kwargs: dict) -> object:
        args, kwargs = within_domain(operator, args, kwargs)
        return super().answer(operator, exact, func, args, kwargs)


def squashed(name: str) -> str:
    return name.split(".")[-1].rstrip("_").lower().replace("_", "")


def computes(operator: str) -> bool:
    """Whether a kernel has work to do for it: no view, cast or constructor."""
    return operator not in SHAPE - MAKES_VALUES


def tensors_in(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
