"""Whether a correct kernel could agree at all, and at which tolerance: rounding must not decide the output."""

import copy

import torch

from ops6k.records import Reason
from ops6k.screen.bench import Bench
from ops6k.screen.compare import as_tuple, changed_share
from ops6k.screen.finding import Finding, attempt

STEPS = {torch.bfloat16: (1.0, 2.0, 4.0), torch.float16: (1.0, 2.0)}
"""Multiples of the verifier's tolerance that a task may be graded with, by its roughest dtype. One rounding of bfloat16 is
4e-3 of the value, and eager rounds after every operator where a fused kernel does not."""


def fit_tolerance(bench: Bench) -> Finding | None:
    """Sets bench.tolerance to the smallest step at which a reference of wider floats agrees in every element, as a verifier asks.

    Where a task cannot run in them (it casts inside), inputs moved by one rounding stand in for it. Call it before the
    checks that judge what a tolerance hides. The finding is for the end: other faults say more.
    """
    reference = attempt(lambda: _wider(bench))
    if isinstance(reference, Finding):
        reference = attempt(lambda: _nudged(bench))
    if isinstance(reference, Finding):
        return None
    for step in STEPS.get(_coarsest(bench), (1.0,)):
        bench.tolerance = bench.limits.tolerance * step
        shares = [changed_share(got, want, bench.tolerance) for got, want in zip(bench.outputs, reference, strict=True)]
        if max(shares) == 0:
            return None
    worst = shares.index(max(shares))
    message = f"output {worst}: {shares[worst]:.2g} of the elements are off a reference of wider floats by more than {bench.tolerance:g} allows"
    return Finding(Reason.ILL_CONDITIONED, message)


def _coarsest(bench: Bench) -> torch.dtype:
    """The roughest floating dtype among inputs, state and outputs."""
    found = {
        t.dtype
        for t in (*bench.outputs, *bench.model.state_dict().values(), *bench.inputs)
        if isinstance(t, torch.Tensor) and t.is_floating_point()
    }
    return next((dtype for dtype in (torch.bfloat16, torch.float16, torch.float32) if dtype in found), torch.float64)


def _wider(bench: Bench) -> tuple[torch.Tensor, ...]:
    """In float64, or in float32 where the task computes in 16 bits: a thousandth of their rounding."""
    wide = torch.float32 if _coarsest(bench) in STEPS else torch.float64

    def widened(x: torch.Tensor) -> torch.Tensor:
        return x.to(wide) if x.is_floating_point() else x

    # torch's own cast, whatever the task calls double().
    model = torch.nn.Module.to(copy.deepcopy(bench.model), wide)
    return as_tuple(model(*torch.utils._pytree.tree_map_only(torch.Tensor, widened, bench.inputs)))


def _nudged(bench: Bench) -> tuple[torch.Tensor, ...]:
    def nudge(x: torch.Tensor) -> torch.Tensor:
        return x * (1 + torch.finfo(x.dtype).eps) if x.is_floating_point() else x

    return as_tuple(bench.model(*torch.utils._pytree.tree_map_only(torch.Tensor, nudge, bench.inputs)))
