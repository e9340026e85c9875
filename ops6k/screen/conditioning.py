"""Whether a correct kernel could agree at all, and at which tolerance: rounding must not decide the output."""

import contextlib
import copy
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from ops6k.records import Reason
from ops6k.screen.bench import DRAWS, Bench
from ops6k.screen.compare import as_tuple, blocks, disagreement, refused_of
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs

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
_ROUNDING_SEED = 51
_NOISES = 65_537
"""A prime: no axis is a multiple of it."""

_EXACT = frozenset(
    """relu threshold hardtanh clamp clamp_min clamp_max maximum minimum fmax fmin max min amax amin aminmax where masked_fill abs neg sign sgn
    hardshrink ceil floor round trunc positive copysign ldexp heaviside nan_to_num
    max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d
    max_unpool2d max_unpool3d sort topk kthvalue median nanmedian mode cummax cummin
    clone copy _to_copy fill zero lift_fresh_copy cat stack index index_select index_put index_fill index_copy gather scatter take put
    masked_select masked_scatter embedding flip roll repeat repeat_interleave tril triu diag diag_embed unfold_copy im2col
    constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
    pixel_shuffle pixel_unshuffle channel_shuffle upsample_nearest1d upsample_nearest2d upsample_nearest3d complex real imag
    zeros zeros_like ones ones_like full full_like arange eye linspace scalar_tensor new_zeros new_ones new_full
    empty empty_like empty_strided new_empty _unsafe_view _reshape_alias resize set""".split()
)
"""ATen operators that choose among numbers, move them or make the same ones everywhere: every kernel gets them to the last bit."""
_IEEE = frozenset("add sub rsub mul".split())
"""One of them on the task's own numbers is the same to the last bit in every kernel; a second may be contracted with it."""
_ROUNDED_RIGHT = frozenset("add sub rsub mul div sqrt reciprocal fma addcmul addcdiv square".split())
"""What IEEE 754 rounds correctly, or nearly: off by one rounding of the result. Of others (a special function by a recurrence, a sum)
the error is one of the arguments too, however much they are magnified."""

Tensors = tuple[torch.Tensor, ...]


class _Operations(TorchDispatchMode):
    """Counts how many operations that round lie between a tensor and the task's inputs and weights: 0, 1, or 2 for more."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = WeakTensorKeyDictionary()

    def __torch_dispatch__(self, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None) -> object:
        kwargs = kwargs or {}
        name = func._schema.name.split("::")[1].rstrip("_")
        before = max(
            (self.operations.get(x, 0) for x in torch.utils._pytree.tree_leaves((args, kwargs)) if _floating(x)), default=0
        )
        if getattr(func, "is_view", False) or name in _EXACT:
            return self._after(before, func(*args, **kwargs))
        if name in _IEEE and before == 0:
            return self._after(1, self.first(func, args, kwargs))
        return self._after(2, self.later(func, args, kwargs))

    def first(self, func: Callable, args: tuple, kwargs: dict) -> object:
        """The result of an operation that is the same in every kernel."""
        return func(*args, **kwargs)

    def later(self, func: Callable, args: tuple, kwargs: dict) -> object:
        """The result of any other."""
        return func(*args, **kwargs)

    def _after(self, operations: int, result: object) -> object:
        for tensor in torch.utils._pytree.tree_leaves(result):
            if _floating(tensor):
                self.operations[tensor] = operations
        return result


class Widened(_Operations):
    """For float32 numbers held in float64: what every kernel rounds alike to float32 is rounded so here."""

    def first(self, func: Callable, args: tuple, kwargs: dict) -> object:
        if func._schema.is_mutable:
            return func(*args, **kwargs)
        args, kwargs = torch.utils._pytree.tree_map(lambda x: x.float() if _is_float64(x) else x, (args, kwargs))
        return torch.utils._pytree.tree_map(lambda x: x.double() if _floating(x) else x, func(*args, **kwargs))


class Rounded(_Operations):
    """Moves each floating result, and what it was computed from, by up to some roundings of its own dtype: another order of the same
    arithmetic would."""

    def __init__(self, roundings: dict[torch.dtype, float]) -> None:
        super().__init__()
        self.roundings = roundings
        self.table = torch.rand(_NOISES, generator=torch.Generator("cpu").manual_seed(_ROUNDING_SEED), device="cpu") - 0.5

    def later(self, func: Callable, args: tuple, kwargs: dict) -> object:
        name = func._schema.name.split("::")[1].rstrip("_")
        result = func(*args, **kwargs)
        if (
            name not in _ROUNDED_RIGHT
            and not func._schema.is_mutable
            and any(map(_floating, torch.utils._pytree.tree_leaves(result)))
        ):
            moved = torch.utils._pytree.tree_map(lambda x: self._moved(x.clone()) if _wide(x) else x, (args, kwargs))
            # Outside a function's domain (acos of more than 1) it says nothing.
            result = torch.utils._pytree.tree_map(_where_a_number, func(*moved[0], **moved[1]), result)
        return torch.utils._pytree.tree_map(lambda x: self._moved(x) if _floating(x) else x, result)

    def _moved(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor itself, changed in place."""
        if not tensor.is_conj():
            parts = torch.view_as_real(tensor) if tensor.is_complex() else tensor
            if by := self.roundings.get(parts.dtype):
                # x + x * e, for 1 + e would be rounded to 1.
                parts.add_(self._noise(parts).mul_(by * torch.finfo(parts.dtype).eps).mul_(parts))
        return tensor

    def _noise(self, like: torch.Tensor) -> torch.Tensor:
        """Numbers in [-0.5, 0.5), repeated: drawing as many takes a CPU ten times as long as the operator."""
        self.table = self.table.to(like.device)
        repeats = -(-like.numel() // _NOISES)
        return self.table.to(like.dtype).repeat(repeats)[: like.numel()].view(like.shape)


def _floating(value: object) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _is_float64(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == torch.float64


def _wide(value: object) -> bool:
    """Not 16 bits: what is computed from those, is computed in 32."""
    return _floating(value) and value.dtype not in STEPS


def _where_a_number(moved: object, plain: object) -> object:
    return torch.where(moved.isnan(), plain, moved) if _floating(plain) and moved.shape == plain.shape else plain


def fit_tolerance(bench: Bench) -> Finding | None:
    """Sets bench.tolerance to the smallest step of which eager's rounding takes no more than MARGIN, in any element of a few draws.

    Its rounding is what a reference of wider floats shows; where a task cannot run in them (it casts inside), a run in which
    each result is rounded otherwise. Call it before the checks that judge what a tolerance hides. The finding is for the end:
    other faults say more: too much rounding for the last step, or elements that a little more of it would tip over.
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
