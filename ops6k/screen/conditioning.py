"""Whether a correct kernel could agree at all, and at which tolerance: rounding must not decide the output."""

import contextlib
import copy
from collections.abc import Callable

import torch

from ops6k.records import Reason
from ops6k.screen.bench import DRAWS, Bench
from ops6k.screen.compare import as_tuple, blocks, disagreement, refused_of
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs
from ops6k.screen.rounding import Rounded, Widened

STEPS = {torch.bfloat16: (1.0, 2.0, 4.0), torch.float16: (1.0, 2.0)}
"""Multiples of the verifier's tolerance that a task may be graded with, by its roughest dtype. One rounding of bfloat16 is
4e-3 of the value, and eager rounds after every operator where a fused kernel does not."""
MARGIN = 0.7
"""Share of the tolerance that eager's own rounding may take: the rest is for the kernel's, and for draws not seen. The largest of
1e11 normal errors (a verifier's for years) is 1.2 times the largest of 1e8, and 1.5 times the largest of 1e4."""
FIT_DRAWS = DRAWS[:2]
MANY_ROUNDINGS = 1024.0
"""Roundings (half an eps) by which each float32 result is moved to look for jumps. Elements that rounding tips over grow in proportion:
at one rounding there are a thousandth as many."""
SPOILT = 3
"""Such elements in FIT_DRAWS from which a task is refused: about one verification of five draws in a hundred would be spoilt."""
SOME_ROUNDINGS = 64.0
"""By which they may differ without a jump: a sum over some thousand numbers in another order does."""
JUMP = 4.0
"""Times more than in proportion that an element's error grows between the two: it did not grow, it jumped."""
ONE_ROUNDING = dict.fromkeys((torch.bfloat16, torch.float16, torch.float32, torch.float64), 2.0)

Tensors = tuple[torch.Tensor, ...]


def fit_tolerance(bench: Bench) -> Finding | None:
    """Sets bench.tolerance to the smallest step of which eager's rounding takes no more than MARGIN, in any element of a few draws.

    Its rounding is what a reference of wider floats shows; where a task cannot run in them (it casts inside), a run in which
    each result is rounded otherwise. Call it before the checks that judge what a tolerance hides. The finding (too much rounding for
    the last step, or elements that a little more of it would tip over) is for the end: other faults say more.
    """
    fit = _Fit(bench)
    for seed in FIT_DRAWS:
        inputs = bench.inputs if seed == DRAWS[0] else make_inputs(bench.task, bench.device, seed)
        got = bench.outputs if seed == DRAWS[0] else attempt(lambda: as_tuple(bench.model(*inputs)))  # noqa: B023 - called at once
        finding = got if isinstance(got, Finding) else fit.enough(inputs, got) or fit.tips_over(inputs, got)
        if finding is not None:
            return finding
    return None


class _Fit:
    """The tolerance of one task, found draw by draw."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        factors = STEPS.get(_coarsest(bench), (1.0,))
        self.steps = iter([bench.limits.tolerance * factor for factor in factors])
        self.largest = bench.limits.tolerance * factors[-1]
        bench.tolerance = next(self.steps)
        self.reference = attempt(lambda: _wider(bench))
        self.many, self.some = (
            _rounded(bench, {torch.float32: by, torch.float64: by}) for by in (MANY_ROUNDINGS, SOME_ROUNDINGS)
        )
        self.jumped = 0

    def enough(self, inputs: list, got: Tensors) -> Finding | None:
        """Takes the next steps until one is wide enough."""
        wanted = self.reference if isinstance(self.reference, Finding) else attempt(lambda: as_tuple(self.reference(inputs)))
        if isinstance(wanted, Finding):
            self.reference = _rounded(self.bench, ONE_ROUNDING)
            wanted = attempt(lambda: as_tuple(self.reference(inputs)))
        if isinstance(wanted, Finding):
            return None
        while (finding := _disagreement(got, wanted, MARGIN * self.bench.tolerance)) is not None:
            step = next(self.steps, None)
            if step is None:
                return finding
            self.bench.tolerance = step
        return None

    def tips_over(self, inputs: list, plain: Tensors) -> Finding | None:
        """A step, a near pole, a place that rounding chooses."""
        moved = attempt(lambda: as_tuple(self.many(inputs)))
        if isinstance(moved, Finding) or _disagreement(moved, plain, self.largest) is None:
            return None
        less = attempt(lambda: as_tuple(self.some(inputs)))
        if isinstance(less, Finding):
            return None
        self.jumped += sum(_jumped(*outputs, self.largest) for outputs in zip(plain, less, moved, strict=True))
        if self.jumped >= SPOILT:
            said = f"{self.jumped} elements jump when results are moved by {MANY_ROUNDINGS:g} roundings"
            return Finding(Reason.ILL_CONDITIONED, said)
        return _disagreement(less, plain, self.largest)


def _jumped(plain: torch.Tensor, less: torch.Tensor, more: torch.Tensor, tolerance: float) -> int:
    """Elements that a verifier would not take, and whose error grew far more than in proportion."""
    count = 0
    for (want, far), (_, near) in zip(blocks(plain, more), blocks(plain, less), strict=True):
        grown, was = ((x.double() - want.double()).abs() for x in (far, near))
        count += int((refused_of(far, want, tolerance, tolerance) & (grown > JUMP * MANY_ROUNDINGS / SOME_ROUNDINGS * was)).sum())
    return count


def _disagreement(got: Tensors, wanted: Tensors, tolerance: float) -> Finding | None:
    for index, (have, want) in enumerate(zip(got, wanted, strict=True)):
        if have.shape != want.shape:
            return Finding(Reason.ILL_CONDITIONED, f"output {index} has another shape when it is rounded otherwise")
        differs = disagreement(have, want, tolerance, tolerance)
        if differs.refused:
            said = f"output {index}: rounding otherwise moves {differs.refused} of {want.numel()} elements by more than {tolerance:g} allows"
            return Finding(Reason.ILL_CONDITIONED, f"{said}, by up to {differs.worst_refused:.2g}")
    return None


def _coarsest(bench: Bench) -> torch.dtype:
    """The roughest floating dtype among inputs, state and outputs."""
    found = {
        t.dtype
        for t in (*bench.outputs, *bench.model.state_dict().values(), *bench.inputs)
        if isinstance(t, torch.Tensor) and t.is_floating_point()
    }
    return next((dtype for dtype in (torch.bfloat16, torch.float16, torch.float32) if dtype in found), torch.float64)


def _wider(bench: Bench) -> Callable[[list], object]:
    """The model in float64, or in float32 where the task computes in 16 bits: a thousandth of their rounding."""
    coarsest = _coarsest(bench)
    wide = torch.float32 if coarsest in STEPS else torch.float64

    def widened(x: torch.Tensor) -> torch.Tensor:
        return x.to(wide) if x.is_floating_point() else x

    # torch's own cast, whatever the task calls double().
    model = torch.nn.Module.to(copy.deepcopy(bench.model), wide)

    def run(inputs: list) -> object:
        with Widened() if coarsest == torch.float32 else contextlib.nullcontext():
            return model(*torch.utils._pytree.tree_map_only(torch.Tensor, widened, inputs))

    return run


def _rounded(bench: Bench, roundings: dict[torch.dtype, float]) -> Callable[[list], object]:
    """The model with its results moved by so many roundings of their dtype."""

    def run(inputs: list) -> object:
        with Rounded(roundings):
            return bench.model(*inputs)

    return run
