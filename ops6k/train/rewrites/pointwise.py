"""Pointwise operators that do nothing, or that one operator does at once."""

import math
from dataclasses import dataclass

from torch.fx import Graph, Node

from ops6k.train.rewrites.graphs import (
    aten,
    bound,
    calls,
    drop_unused,
    dtype,
    insert,
    is_call,
    is_number,
    is_tensor,
    replace,
    shape,
    used_once,
    value,
)  # fmt: skip

INF = math.inf
DEPTH = 12
"""How far ranges are followed backwards."""

RANGES = {
    aten.sigmoid: (0.0, 1.0), aten.softmax: (0.0, 1.0), aten._softmax: (0.0, 1.0), aten.exp: (0.0, INF), aten.exp2: (0.0, INF),
    aten.abs: (0.0, INF), aten.square: (0.0, INF), aten.tanh: (-1.0, 1.0), aten.erf: (-1.0, 1.0),
    aten.sin: (-1.0, 1.0), aten.cos: (-1.0, 1.0), aten.sign: (-1.0, 1.0), aten.log_sigmoid: (-INF, 0.0),
    aten.log_softmax: (-INF, 0.0), aten.hardsigmoid: (0.0, 1.0), aten.cosh: (1.0, INF),
    aten.sqrt: (0.0, INF), aten.rsqrt: (0.0, INF), aten.norm: (0.0, INF), aten.linalg_vector_norm: (0.0, INF), aten.frac: (-1.0, 1.0),
}  # fmt: skip
"""What values an operator gives, whatever floats go in; NaN aside."""
_SOFT = 20.0
"""From this threshold on, softplus is smooth: it falls by exp(-threshold) there, and this is its default."""
_MAX_POOLS = (aten.max_pool1d, aten.max_pool2d, aten.max_pool3d)
_SELECTING = (
    aten.reshape, aten.transpose, aten.permute, aten.t, aten.unsqueeze, aten.squeeze, aten.flatten, aten.unflatten, aten.expand,
    aten.contiguous, aten.clone, aten.select, aten.slice, aten.flip, aten.roll, aten.amax, aten.amin, *_MAX_POOLS, aten.repeat,
)  # fmt: skip
"""Operators whose values are values of their argument."""
_AVERAGES = (aten.mean, aten.avg_pool1d, aten.avg_pool2d, aten.avg_pool3d, aten.adaptive_avg_pool1d, aten.adaptive_avg_pool2d,
             aten.adaptive_avg_pool3d)  # fmt: skip
_TWICE = (aten.floor, aten.ceil, aten.round, aten.trunc, aten.sign)
_CLAMPS = (aten.relu, aten.clamp, aten.clamp_min, aten.clamp_max, aten.hardtanh, aten.relu6, aten.maximum, aten.minimum)


@dataclass(frozen=True, slots=True)
class Clamp:
    """min(max(x, low), high)."""

    x: Node
    low: float
    high: float


def clamp_of(node: object) -> Clamp | None:
    """relu, clamp, hardtanh and relu6 with plain numbers as a clamp."""
    if not is_call(node, *_CLAMPS) or is_call(node, aten.maximum, aten.minimum):
        return None
    named = bound(node)
    if is_call(node, aten.relu):
        low, high = 0.0, INF
    elif is_call(node, aten.relu6):
        low, high = 0.0, 6.0
    elif is_call(node, aten.hardtanh):
        low, high = named["min_val"], named["max_val"]
    else:
        low = -INF if named.get("min") is None else named["min"]
        high = INF if named.get("max") is None else named["max"]
    numbers = is_number(low) and is_number(high) and low <= high and value(node).is_floating_point()
    return Clamp(node.args[0], float(low), float(high)) if numbers and dtype(node) == dtype(node.args[0]) else None


def limits(node: object, depth: int = DEPTH) -> tuple[float, float]:
    """Between which values a node's elements lie; NaN aside, and never narrower than the truth. Of floats: integers wrap around."""
    if is_number(node):
        return float(node), float(node)
    if not is_tensor(node) or node.op != "call_function" or depth == 0 or not value(node).is_floating_point():
        return -INF, INF
    clamp = clamp_of(node)
    if clamp:
        low, high = limits(clamp.x, depth - 1)
        return min(max(low, clamp.low), clamp.high), min(max(high, clamp.low), clamp.high)
    if has_empty_windows(node):
        return -INF, INF
    if is_call(node, *_SELECTING, *_AVERAGES):
        low, high = limits(node.args[0], depth - 1)
        if not is_call(node, *_AVERAGES):
            return low, high
        # Zeros of the padding count, and a divisor of the caller's may be smaller than the window.
        usual = bound(node).get("divisor_override") is None
        return (min(low, 0.0), max(high, 0.0)) if usual else (0.0 if low >= 0 else -INF, INF)
    if is_call(node, *RANGES):
        return RANGES[node.target.overloadpacket]
    return (0.0, INF) if is_soft(node) else _limits_of_two(node, depth)


def is_soft(node: object) -> bool:
    """A softplus that is log(1 + exp(beta x)) / beta all along: positive, and growing."""
    named = bound(node) if is_call(node, aten.softplus) else None
    return named is not None and named["beta"] > 0 and named["threshold"] >= _SOFT


def has_empty_windows(node: object) -> bool:
    """A max-pooling where a window may hold nothing but padding, which is no value of its argument: dilated ones step over all else."""
    if not is_call(node, *_MAX_POOLS):
        return False
    padding, dilation = (bound(node)[name] for name in ("padding", "dilation"))
    return any(padding) and any(step != 1 for step in dilation)


def _limits_of_two(node: Node, depth: int) -> tuple[float, float]:
    if is_call(node, aten.mul, aten.div) and node.args[0] is node.args[1]:
        return 0.0, INF
    if not is_call(node, aten.maximum, aten.minimum, aten.add, aten.mul, aten.div) or bound(node).get("alpha", 1) != 1:
        return -INF, INF
    if bound(node).get("rounding_mode") is not None:
        return -INF, INF
    (low, high), (other_low, other_high) = limits(node.args[0], depth - 1), limits(node.args[1], depth - 1)
    if is_call(node, aten.maximum):
        return max(low, other_low), max(high, other_high)
    if is_call(node, aten.minimum):
        return min(low, other_low), min(high, other_high)
    if is_call(node, aten.add):
        return low + other_low, high + other_high
    return (0.0, INF) if low >= 0 and other_low >= 0 else (-INF, INF)


def idempotent(graph: Graph) -> int:
    """Operators that do nothing to what comes in, and clamps of clamps as one.

    min(max(x, l), h) = x where l <= x <= h: relu, clamp, hardtanh and relu6 go where the range of x is known to lie within theirs
    (relu of relu, of exp, of max(x, c) with c >= 0); |x| = x where x >= 0; floor, ceil, round, trunc and sign repeated change
    nothing; max(x, x) = x; -(-x) = x. min(max(min(max(x, a), b), c), d) is monotone in x, constant below a and above b, and the
    identity where neither bites: it is min(max(x, a'), b') with a' and b' the outer clamp of a and b, for a <= b and c <= d.
    Two become one only where the inner one is used nowhere else. NaN goes through all of these.
    """
    changed = 0
    for node in calls(graph, *_CLAMPS, aten.abs, aten.neg, *_TWICE):
        kept = _unchanged(node)
        if kept is not None and (shape(kept), dtype(kept)) == (shape(node), dtype(node)):
            changed += replace(node, kept)
        elif kept is None:
            changed += _one_clamp(node)
    drop_unused(graph)
    return changed


def _unchanged(node: Node) -> Node | None:
    """The argument that a node returns as it is."""
    first = node.args[0]
    if is_call(node, aten.maximum, aten.minimum):
        return first if first is node.args[1] else None
    if is_call(node, aten.neg):
        return first.args[0] if is_call(first, aten.neg) else None
    if is_call(node, *_TWICE):
        same = is_call(first, node.target.overloadpacket) and first.args[1:] == node.args[1:] and first.kwargs == node.kwargs
        return first if same else None
    low, high = limits(first)
    if is_call(node, aten.abs):
        return first if low >= 0 else None
    clamp = clamp_of(node)
    return first if clamp and low >= clamp.low and high <= clamp.high else None


def _one_clamp(node: Node) -> int:
    outer = clamp_of(node)
    inner = clamp_of(outer.x) if outer else None
    if inner is None or not used_once(outer.x):
        return 0
    low, high = (min(max(x, outer.low), outer.high) for x in (inner.low, inner.high))
    if (low, high) == (0.0, INF):
        return replace(node, insert(node, aten.relu.default, inner.x))
    ends = (None if low == -INF else low, None if high == INF else high)
    return replace(node, insert(node, aten.clamp.default, inner.x, *ends))
