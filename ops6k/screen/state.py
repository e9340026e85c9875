"""All that a task could remember from one call to the next: attributes, lists, objects, default values, classes, caches.

Walked from the model and from the names of its source, into containers and into objects of classes that the task defines.
"""

import functools
import hashlib
import itertools
import types
from collections.abc import Iterator

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

from ops6k.screen.compare import bits_of
from ops6k.screen.load import NAME, Loaded

_OF_MODULES = frozenset(vars(torch.nn.Module())) - {"_parameters", "_buffers", "_modules"} | {
    "_flat_weights",
    "_flat_weight_refs",
}
"""What every module has: its hooks, its mode; and what RNNs make of their parameters."""
_MAX_DEPTH = 40
_PLAIN = (int, float, complex, bool, str, bytes, type(None), torch.dtype, torch.device, torch.Size)


def remembered(task: Loaded, model: torch.nn.Module) -> dict[str, str]:
    """Path -> what stands there, as text; tensors by the sum of their bits, fake ones by what object they are."""
    seen: set[int] = set()
    found = dict(_walk(model, "", seen, 0))
    for name, value in list(task.names.items()):
        if not name.startswith("__"):
            found |= dict(_walk(value, name, seen, 0))
    return found


def difference(before: dict[str, str], after: dict[str, str]) -> str | None:
    """The first path whose content is another."""
    return next((path.strip(".") for path in before | after if before.get(path) != after.get(path)), None)


def _walk(value: object, path: str, seen: set[int], depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, _PLAIN):
        yield path, _text(value)
    elif isinstance(value, torch.Tensor):
        yield path, _tensor(value)
        kept = {} if _is_fake(value) else vars(value)
        yield from (item for name, part in list(kept.items()) for item in _walk(part, f"{path}.{name}", seen, depth + 1))
    elif id(value) not in seen and depth < _MAX_DEPTH:
        seen.add(id(value))
        for name, part in _parts(value):
            yield from _walk(part, f"{path}.{name}", seen, depth + 1)


def _is_fake(value: torch.Tensor) -> bool:
    return isinstance(value, FakeTensor) or value.device.type == "meta"


def _text(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:100]} {len(text)} {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _tensor(value: torch.Tensor) -> str:
    if _is_fake(value):
        return f"{tuple(value.shape)} {id(value)}"
    if value.layout is not torch.strided or value.is_quantized:
        return f"{value.layout} {id(value)}"
    with unset_fake_temporarily():  # in the dry run it is a tensor that the model does not hold, and real
        return f"{tuple(value.shape)} {value.dtype} {int(bits_of(value.detach()).sum())}"


def _parts(value: object) -> Iterator[tuple[str, object]]:
    """What an object is made of, as far as a task could have put it there."""
    if isinstance(value, dict):
        yield "", len(value)
        for i, (name, part) in enumerate(list(value.items())):
            yield from ((f"key{i}", name), (_text(name) if isinstance(name, _PLAIN) else f"value{i}", part))
    elif isinstance(value, list | tuple | set | frozenset) or type(value).__name__ == "deque":
        yield "", len(value)
        yield from ((str(i), part) for i, part in enumerate(list(value)))
    elif isinstance(value, torch.nn.Module):
        yield from _of_module(value)
        yield from _of_class(type(value))
    elif isinstance(value, types.FunctionType | types.MethodType):
        yield from _of_function(getattr(value, "__func__", value))
    elif isinstance(value, functools.partial):
        yield from (("func", value.func), ("args", value.args), ("keywords", value.keywords))
    elif isinstance(value, types.GeneratorType):
        yield "at", value.gi_frame.f_lasti if value.gi_frame else None
    elif isinstance(value, itertools.count):
        yield "at", repr(value)
    elif hasattr(value, "cache_info"):
        yield "cache", str(value.cache_info())
    elif isinstance(value, type):
        yield from _of_class(value)
    elif type(value).__module__ == NAME:
        yield from list(vars(value).items()) if hasattr(value, "__dict__") else ()
        for cls in type(value).__mro__:
            slots = vars(cls).get("__slots__", ())
            names = (slots,) if isinstance(slots, str) else tuple(slots)
            yield from ((name, getattr(value, name)) for name in names if hasattr(value, name))
        yield from _of_class(type(value))


def _of_module(module: torch.nn.Module) -> Iterator[tuple[str, object]]:
    for name, part in list(vars(module).items()):
        if name in ("_parameters", "_buffers", "_modules"):
            yield from list(part.items())
        elif name not in _OF_MODULES:
            yield name, part


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    if function.__module__ == NAME:
        yield "defaults", function.__defaults__
        yield "keyword_defaults", function.__kwdefaults__
        yield from list(vars(function).items())
        yield from ((f"cell{i}", cell.cell_contents) for i, cell in enumerate(function.__closure__ or ()) if _filled(cell))


def _of_class(cls: type) -> Iterator[tuple[str, object]]:
    for own in (base for base in cls.__mro__ if base.__module__ == NAME):
        for name, part in list(vars(own).items()):
            if not name.startswith("__") or name in ("__init__", "__call__"):
                yield f"{own.__name__}.{name}", getattr(part, "__func__", part)


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True
