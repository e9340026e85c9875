"""A model's arithmetic rounded otherwise than eager rounds it: as wider floats do, or by more, operator by operator."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

NARROW = (torch.bfloat16, torch.float16)
"""Dtypes whose operators compute in 32 bits and round once."""
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
    return _floating(value) and value.dtype not in NARROW


def _where_a_number(moved: object, plain: object) -> object:
    return torch.where(moved.isnan(), plain, moved) if _floating(plain) and moved.shape == plain.shape else plain
