"""Floating-point operations of matrix products, convolutions and what amounts to them; element-wise arithmetic counts nothing, as it
never binds on the devices that tasks are made for.

torch's own table (torch.utils.flop_counter) and the products that it leaves out, a multiplication and an addition counting as two.
"""

import math
from collections.abc import Callable

import torch
from torch.utils.flop_counter import flop_registry

_ATEN = torch.ops.aten


def matrix_flops(operator: torch._ops.OpOverload, args: tuple, kwargs: dict, result: object) -> int:
    """Of one ATen call, from the shapes of its tensors (fake ones do)."""
    packet = operator.overloadpacket
    if packet in flop_registry:
        return int(flop_registry[packet](*args, **kwargs, out_val=result))
    count = _OTHERS.get(packet)
    return int(count(args, result)) if count else 0


def _mv(args: tuple, result: object) -> int:
    return 2 * math.prod(args[0].shape)


def _addmv(args: tuple, result: object) -> int:
    return 2 * math.prod(args[1].shape)


def _addbmm(args: tuple, result: object) -> int:
    return 2 * math.prod(args[1].shape) * args[2].shape[-1]


def _addr(args: tuple, result: object) -> int:
    return 2 * math.prod(result.shape)


def _distances(args: tuple, result: object) -> int:
    """Per pair of rows a subtraction, a power and an addition for each of their elements."""
    return 3 * math.prod(result.shape) * args[0].shape[-1]


def _euclidean(args: tuple, result: object) -> int:
    """By a matrix product."""
    return 2 * math.prod(result.shape) * args[0].shape[-1]


def _conv_tbc(args: tuple, result: object) -> int:
    return 2 * math.prod(result.shape) * math.prod(args[1].shape[:2])


def _trilinear(args: tuple, result: object) -> int:
    """sum(i1 * i2 * i3) over broadcast axes (nn.Bilinear): a product of two of them first, then one for each of the third's axes."""
    sizes = [1] * (args[0].dim() + len(args[3]))
    for tensor, expanded in zip(args[:3], args[3:6], strict=True):
        shape = iter(tensor.shape)
        for axis in range(len(sizes)):
            if axis not in expanded:
                sizes[axis] = max(sizes[axis], next(shape))
    return 2 * math.prod(sizes)


_OTHERS: dict[object, Callable[[tuple, object], int]] = {
    _ATEN.mv: _mv,
    _ATEN.dot: _mv,
    _ATEN.vdot: _mv,
    _ATEN.addmv: _addmv,
    _ATEN.addbmm: _addbmm,
    _ATEN.addr: _addr,
    _ATEN._cdist_forward: _distances,
    _ATEN._euclidean_dist: _euclidean,
    _ATEN._pdist_forward: _distances,
    _ATEN._trilinear: _trilinear,
    _ATEN.conv_tbc: _conv_tbc,
}
