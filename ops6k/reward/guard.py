"""Which of torch's own operators a forward calls: what a kernel must do itself.

Allowed are memory and what describes it: allocations, constants, views, reading one number. Everything else that reaches torch's
dispatcher, by whichever name in Python, is written down. Two observers: the profiler's callbacks, which run in C++ and see also
what is called where modes are switched off, and a dispatch mode, which needs frames of Python's own: a solution can tell by the depth
of recursion that is left whether it is on, so it is not the one that stands between timed calls.
"""

import functools
from collections.abc import Callable, Iterable
from typing import TypeVar

import torch
from torch.autograd import profiler_legacy
from torch.utils._python_dispatch import TorchDispatchMode

T = TypeVar("T")

MEMORY = frozenset(
    """empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones full full_like
    new_full fill_ zero_ scalar_tensor lift_fresh lift_fresh_copy detach detach_ _reshape_alias _unsafe_view _local_scalar_dense
    resolve_conj resolve_neg""".split()
)
"""Beside views. No copies: a task may be nothing but one."""


_DIRECT = ("fbgemm", "_fused", "_scaled", "quantize", "fake_quantize")
"""Composite by registration alone: they compute in code of their own."""


class _Dispatched(TorchDispatchMode):
    """Names of the operators that are called while it is on."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: object, types: object, args: tuple = (), kwargs: dict | None = None) -> object:
        self.names.append(func._schema.name)
        return func(*args, **(kwargs or {}))


def guarded(run: Callable[[], T]) -> tuple[T, tuple[str, ...]]:
    """What `run` returns, and the operators of torch that it called beyond memory and views, each once, in order."""
    with profiler_legacy.profile() as profiled:
        result = run()
    return result, _named(event.name for event in profiled.function_events)


def guarded_twice(run: Callable[[], T]) -> tuple[T, tuple[str, ...]]:
    """The same, by both observers."""
    with _Dispatched() as dispatched:
        result, profiled = guarded(run)
    return result, tuple(dict.fromkeys((*_named(dispatched.names), *profiled)))


def _named(called: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.removeprefix("aten::") for name in dict.fromkeys(called) if "::" in name and _computes(name))


@functools.cache
def _computes(name: str) -> bool:
    """name: as a schema has it, aten::relu. What is only made of other operators does nothing itself: those are seen too."""
    space, _, short = name.partition("::")
    if short in MEMORY:
        return False
    if short.startswith(_DIRECT):
        return True
    packet = getattr(getattr(torch.ops, space), short, None)
    overloads = [getattr(packet, overload) for overload in packet.overloads()] if packet is not None else []
    known = [one for one in overloads if torch._C._dispatch_has_kernel(one.name())]  # some are TorchScript's alone
    return not known or not all(one.is_view or _is_composite(one) for one in known)


def _is_composite(one: object) -> bool:
    keys = torch._C.DispatchKey
    own = any(one.has_kernel_for_dispatch_key(key) for key in (keys.CPU, keys.CUDA))
    return one.has_kernel_for_dispatch_key(keys.CompositeImplicitAutograd) and not own
