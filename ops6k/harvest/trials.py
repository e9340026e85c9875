"""Calls of an operator, and what they show: arguments, ranks, dtypes and whether it is stochastic.

A failing call is data here: its first line becomes the reason. torch is imported where it is used; runs in a harvest worker.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

# What calls with wrong arguments raise. Anything else ends the child, and that is the entry's reason.
FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)

DTYPES = ("float32", "bfloat16", "float16", "int64", "bool", "complex64")
"""Tried in this order."""

FIRST_SAMPLES = 12
"""Successful calls of the first dtype that are looked at; of the others, one is enough."""
ATTEMPTS = 24
JUDGED_SAMPLES = 3
"""Of these it is judged whether they are stochastic."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call with example arguments."""

    function: Callable
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the calls of one operator showed; failure is empty where one succeeded."""

    arity: int = 0
    ranks: tuple[int, ...] = ()
    dtypes: tuple[str, ...] = ()
    stochastic: bool = False
    failure: str = ""


def observe(calls: Callable[[str], Iterator[Call]]) -> Seen:
    """What the calls show; calls(dtype) gives them lazily, best example first."""
    arity, ranks, dtypes, stochastic, failure = 0, set(), [], False, "no example arguments"
    for dtype in DTYPES:
        worked, reason = _worked(calls(dtype), 1 if dtypes else FIRST_SAMPLES)
        failure = failure if failure != "no example arguments" else reason or failure
        if not worked:
            continue
        if not dtypes:
            arity = len(tensors((worked[0].args, worked[0].kwargs)))
            try:
                stochastic = any(is_stochastic(call) for call in worked[:JUDGED_SAMPLES])
            except FAILURES as error:
                return Seen(failure=f"fails when repeated: {first_line(error)}"[:160])
        ranks |= {rank for rank in map(first_rank, worked) if rank is not None}
        dtypes.append(dtype)
    if not dtypes:
        return Seen(failure=failure)
    return Seen(arity, tuple(sorted(ranks)), tuple(dtypes), stochastic)


def _worked(calls: Iterator[Call], enough: int) -> tuple[list[Call], str]:
    """The calls that gave a tensor, and why the first that did not failed."""
    worked: list[Call] = []
    reason = ""
    for _ in range(ATTEMPTS):
        try:
            call = next(calls, None)
            if call is None or len(worked) == enough:
                break
            found = result(call)
        except FAILURES as error:
            reason = reason or first_line(error)
            continue
        if tensors(found):
            worked.append(call)
        else:
            reason = reason or f"returns {type(found).__name__}, no tensor"
    return worked, reason


def result(call: Call) -> object:
    """What the call returns, on copies of its arguments."""
    import torch

    args, kwargs = _copied((call.args, call.kwargs))
    with torch.no_grad():
        return call.function(*args, **kwargs)


def is_stochastic(call: Call) -> bool:
    """A moved generator or differing repeats; the dispatcher's tag nondeterministic_seeded asks for more repeats."""
    import torch

    seed()
    before, before_python = torch.get_rng_state(), random.getstate()
    with _watch() as watch:
        first = result(call)
    if not torch.equal(before, torch.get_rng_state()) or random.getstate() != before_python:
        return True
    return any(not _same(first, result(call)) for _ in range(4 if watch.seeded else 1))


def seed() -> None:
    """All generators at 0; torch.manual_seed would format a stack trace for the absent GPU."""
    import numpy
    import torch

    random.seed(0)
    numpy.random.seed(0)
    torch.default_generator.manual_seed(0)


def size_of(call: Call) -> tuple[int, int]:
    """FLOPs of a call and elements that all its operators write: what it costs, the same on every machine."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, _watch() as watch:
        result(call)
    return counter.get_total_flops(), watch.elements


def tensors(value: object) -> list:
    """The tensors in nested arguments or results, in order."""
    import torch
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(_plain(value)) if isinstance(leaf, torch.Tensor)]


def first_rank(call: Call) -> int | None:
    found = tensors((call.args, call.kwargs))
    return found[0].dim() if found else None


def first_line(error: BaseException) -> str:
    """`TypeError: message`, one line of at most 160 characters, without addresses."""
    text = " ".join(str(error).split()) or "no message"
    return f"{type(error).__name__}: {text}"[:160]


def _plain(value: object) -> object:
    # transformers' ModelOutput is an ordered mapping of its own.
    return dict(value) if hasattr(value, "to_tuple") and hasattr(value, "keys") else value


def _copied(value: object) -> object:
    import torch
    from torch.utils._pytree import tree_map

    return tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, value)


def _same(one: object, other: object) -> bool:
    """Up to rounding: a copy at another address may take another path through the linear algebra library."""
    import torch

    pairs = list(zip(tensors(one), tensors(other), strict=True))
    return all(a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True) for a, b in pairs)


def _watch() -> object:
    """A dispatch mode: `seeded` says whether an operator tagged nondeterministic_seeded ran, `elements` how many were written."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        seeded = False
        elements = 0

        def __torch_dispatch__(self, func: object, types: object, args: tuple = (), kwargs: dict | None = None) -> object:
            self.seeded = self.seeded or torch.Tag.nondeterministic_seeded in func.tags
            out = func(*args, **(kwargs or {}))
            self.elements += sum(tensor.numel() for tensor in tensors(out))
            return out

    return Watch()
