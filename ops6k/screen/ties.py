"""Whether the order of equal values decides the output: which of them comes first, no definition of sort or argmax says."""

from collections.abc import Callable

import torch

from ops6k.labels import key
from ops6k.records import Reason
from ops6k.screen.bench import Bench
from ops6k.screen.calls import Watch, on, tensors_in
from ops6k.screen.compare import as_tuple
from ops6k.screen.finding import Finding, attempt

AXIS: dict[str, tuple[int, int | None]] = {
    "sort": (1, -1), "argsort": (1, -1), "topk": (2, -1), "kthvalue": (2, -1), "mode": (1, -1), "argmax": (1, None), "argmin": (1, None),
    "max": (1, None), "min": (1, None), "median": (1, None), "nanmedian": (1, None),
}  # fmt: skip
"""Operators that say where a value stood: where among their arguments the axis is, and its default (None: all)."""


class Reversed(Watch):
    """Each of them works on its argument reversed along the axis, and the places are turned back: of equal values another
    is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.turned: list[str] = []

    def answer(self, operator: str, exact: str, func: Callable, args: tuple, kwargs: dict) -> object:
        if operator not in AXIS or kwargs.get("stable") or not args or not isinstance(args[0], torch.Tensor) or not args[0].dim():
            return func(*args, **kwargs)
        at, default = AXIS[operator]
        axis = kwargs.get("dim", args[at] if len(args) > at else default)
        if isinstance(axis, torch.Tensor) or (axis is None and not operator.startswith("arg")):
            return func(*args, **kwargs)  # the larger of two tensors, the largest of all: no places
        axes = tuple(range(args[0].dim())) if axis is None else (axis,)
        count = args[0].numel() if axis is None else args[0].shape[axis]
        result = func(args[0].flip(axes), *args[1:], **kwargs)
        self.turned.append(operator)

        def back(x: torch.Tensor) -> torch.Tensor:
            return count - 1 - x if x.dtype == torch.int64 and (x is result or x is not tensors_in(result)[0]) else x

        return torch.utils._pytree.tree_map_only(torch.Tensor, back, result)


def finding(bench: Bench) -> Finding | None:
    """Whether taking another of equal values changes an output beyond the tolerance."""
    if not any(key(op) in AXIS for op in bench.ops):
        return None
    watch = Reversed()

    def run() -> tuple[torch.Tensor, ...]:
        with on(watch, bench.task, bench.ops):
            return as_tuple(bench.model(*bench.inputs))

    output = attempt(run)
    if isinstance(output, Finding) or not watch.turned:
        return None
    share = max(map(bench.changed, output, bench.outputs))
    if share == 0:
        return None
    return Finding(Reason.ILL_CONDITIONED, f"which of equal values {watch.turned[0]} takes decides {share:.2g} of an output")
