"""Whether a correct kernel could agree at all: rounding must not decide the output."""

import copy
from typing import TYPE_CHECKING

import torch

from ops6k.records import Reason
from ops6k.screen.compare import as_tuple, changed_share
from ops6k.screen.finding import Finding, attempt

if TYPE_CHECKING:
    from ops6k.screen.eager import Bench

AGREEING_SHARE = 0.999
_SLACK = {torch.bfloat16: 4.0, torch.float16: 2.0}
"""Reduced precision may differ from float64 by so many of the verifier's tolerances: its own rounding is 4e-3 (bfloat16)."""


def conditioning(bench: "Bench") -> Finding | None:
    """Float64 agrees within the verifier's tolerance in 99.9 % of the elements; where a task cannot run in float64
    (it casts inside), inputs moved by one rounding stand in for it."""
    reference = attempt(lambda: _in_float64(bench))
    if isinstance(reference, Finding):
        reference = attempt(lambda: _nudged(bench))
    if isinstance(reference, Finding):
        return None
    for i, (got, wanted) in enumerate(zip(reference, bench.outputs, strict=True)):
        tolerance = bench.limits.tolerance * _SLACK.get(_coarsest(bench, wanted), 1.0)
        share = changed_share(wanted, got, tolerance)
        if share > 1 - AGREEING_SHARE:
            return Finding(Reason.ILL_CONDITIONED, f"output {i}: {share:.2%} of the elements differ from a float64 reference")
    return None


def _coarsest(bench: "Bench", output: torch.Tensor) -> torch.dtype:
    """The roughest floating dtype among inputs, state and output."""
    found = {
        t.dtype
        for t in (output, *bench.model.state_dict().values(), *bench.inputs)
        if isinstance(t, torch.Tensor) and t.is_floating_point()
    }
    return next((dtype for dtype in (torch.bfloat16, torch.float16, torch.float32) if dtype in found), torch.float64)


def _in_float64(bench: "Bench") -> tuple[torch.Tensor, ...]:
    model = copy.deepcopy(bench.model).double()
    arguments = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda x: x.double() if x.is_floating_point() else x, bench.inputs
    )
    return as_tuple(model(*arguments))


def _nudged(bench: "Bench") -> tuple[torch.Tensor, ...]:
    def nudge(x: torch.Tensor) -> torch.Tensor:
        return x * (1 + torch.finfo(x.dtype).eps) if x.is_floating_point() else x

    return as_tuple(bench.model(*torch.utils._pytree.tree_map_only(torch.Tensor, nudge, bench.inputs)))
