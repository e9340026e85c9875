"""Pointwise work moved behind pooling, where there is less of it."""

import operator

from torch.fx import Graph, Node

from ops6k.train.rewrites.fold import step_of
from ops6k.train.rewrites.graphs import (
    aten,
    axes,
    bound,
    calls,
    constant_along,
    drop_unused,
    dtype,
    insert,
    is_call,
    is_number,
    like,
    numel,
    replace,
    shape,
    used_once,
    value,
)  # fmt: skip
from ops6k.train.rewrites.layers import layer_of, rebuilt
from ops6k.train.rewrites.pointwise import clamp_of, has_empty_windows, is_soft, limits

_MAX = {aten.max_pool1d: 1, aten.max_pool2d: 2, aten.max_pool3d: 3}
_ADAPTIVE_MAX = {aten.adaptive_max_pool1d: 1, aten.adaptive_max_pool2d: 2, aten.adaptive_max_pool3d: 3}
_AVERAGE = {aten.avg_pool1d: 1, aten.avg_pool2d: 2, aten.avg_pool3d: 3}
_ADAPTIVE = {aten.adaptive_avg_pool1d: 1, aten.adaptive_avg_pool2d: 2, aten.adaptive_avg_pool3d: 3}
_GROWING = (aten.sigmoid, aten.tanh, aten.exp, aten.log_sigmoid, aten.atan, aten.erf, aten.hardsigmoid, aten.selu,
            aten.relu, aten.asinh, aten.floor, aten.ceil, aten.expm1)  # fmt: skip
_GROWING_ABOVE_ZERO = (aten.sqrt, aten.square, aten.log1p)


def pooled_axes(node: Node) -> tuple[int, ...]:
    """The axes of its input that a pooling or reduction works along."""
    packet = node.target.overloadpacket
    spatial = (_MAX | _ADAPTIVE_MAX | _AVERAGE | _ADAPTIVE).get(packet)
    rank = value(node.args[0]).dim()
    return tuple(range(rank - spatial, rank)) if spatial else axes(bound(node)["dim"], rank)


def commute_pool(graph: Graph) -> int:
    """Pointwise operators and 1x1 convolutions computed behind a pooling, on fewer elements.

    max_i f(x_i) = f(max_i x_i) for a non-decreasing f, likewise min: every window holds an element of x (padding with dilation
    aside), padding is never the largest. f may be relu, a clamp, sigmoid and their like, times a positive number, plus what is constant along the pooled axes.
    An average is linear: mean_i (s x_i + t) = s mean_i x_i + t for s and t constant along the pooled axes, and a 1x1 convolution
    is linear and acts on channels alone, so mean_i (W x_i + b) = W mean_i x_i + b. Where zeros of the padding are counted or the
    divisor is given, weights do not sum to 1: then only without t and b. The intermediate is used nowhere else, indices not at
    all, and there must be fewer elements after pooling than before.
    """
    changed = 0
    for node in calls(graph, *_MAX, *_ADAPTIVE_MAX, aten.amax, aten.amin):
        changed += _behind_max(node)
    for node in calls(graph, *_AVERAGE, *_ADAPTIVE, aten.mean):
        if "dim" in bound(node) or not is_call(node, aten.mean):
            changed += _behind_average(node)
    drop_unused(graph)
    return changed


def _behind_max(node: Node) -> int:
    point, outputs = node.args[0], [node]
    if isinstance(value(node), tuple | list):
        outputs = list(node.users)
        if len(outputs) != 1 or outputs[0].target is not operator.getitem or outputs[0].args[1] != 0:
            return 0
    result = outputs[0]
    if not used_once(point) or numel(result) >= numel(point) or has_empty_windows(node) or not _grows(point, pooled_axes(node)):
        return 0
    at = result.next
    step = step_of(point)
    pooled = like(node, step.y if step else point.args[0], at)
    pooled = pooled if result is node else insert(at, operator.getitem, pooled, 0)
    return replace(result, _again(point, pooled, node, at))


def _grows(point: Node, along: tuple[int, ...]) -> bool:
    """Whether a pointwise operator does not decrease in its first argument, the same one all along the pooled axes."""
    if not isinstance(point, Node) or point.op != "call_function" or not value(point).is_floating_point():
        return False
    if clamp_of(point) or is_call(point, *_GROWING) or is_soft(point):
        return dtype(point.args[0]) == dtype(point)
    if is_call(point, aten.leaky_relu):
        return bound(point)["negative_slope"] >= 0
    if is_call(point, aten.elu):
        named = bound(point)
        return named["alpha"] >= 0 and named["scale"] >= 0 and named["input_scale"] >= 0
    if is_call(point, *_GROWING_ABOVE_ZERO):
        return limits(point.args[0])[0] >= 0
    step = step_of(point)
    if step is None or step.op == "rsub":
        return False
    if step.op == "add":
        return constant_along(step.operand, along, value(point).dim())
    return is_number(step.operand) and step.operand > 0


def _behind_average(node: Node) -> int:
    point = node.args[0]
    if not isinstance(point, Node) or not used_once(point) or numel(node) >= numel(point) or dtype(node) != dtype(point):
        return 0
    step, along = step_of(point), pooled_axes(node)
    if step:
        moves = step.op in ("add", "rsub")
        if constant_along(step.operand, along, value(point).dim()) and (not moves or _weights_sum_to_one(node)):
            return replace(node, _again(point, like(node, step.y, node), node, node))
        return 0
    layer = layer_of(point)
    if layer and layer.kind == "convolution" and _is_pointwise(layer.node) and layer.axis not in along:
        spatial = set(range(layer.axis + 1, value(point).dim()))
        keeps = not is_call(node, aten.mean) or bound(node)["keepdim"]
        if keeps and set(along) <= spatial and (layer.bias is None or _weights_sum_to_one(node)):
            pooled = like(node, layer.x, node)
            return replace(node, rebuilt(layer, node, layer.weight, layer.bias, pooled))
    return 0


def _weights_sum_to_one(node: Node) -> bool:
    """Whether the average of a constant is that constant, at the borders too."""
    if not is_call(node, *_AVERAGE):
        return True
    named = bound(node)
    padding = named["padding"]
    padded = any(padding) if isinstance(padding, list | tuple) else bool(padding)
    return named.get("divisor_override") is None and (not padded or not named["count_include_pad"])


def _is_pointwise(convolution: Node) -> bool:
    """1x1, without stride or padding."""
    named = bound(convolution)
    ones = all(length == 1 for length in shape(named["weight"])[2:])
    stride, padding = named["stride"], named["padding"]
    unmoved = padding in ("same", "valid") or not any(padding)
    return ones and unmoved and all(step == 1 for step in stride)


def _again(point: Node, pooled: Node, node: Node, at: Node) -> Node:
    """A pointwise operator on the pooled tensor; its constant operand without the axes that are gone."""
    step = step_of(point)
    if step is None:
        return like(point, pooled, at)
    along, rank = pooled_axes(node), value(point).dim()
    arguments = [pooled if item is step.y else _thinner(item, along, rank, pooled, at) for item in point.args]
    return insert(at, point.target, *arguments, **point.kwargs)


def _thinner(item: object, along: tuple[int, ...], rank: int, pooled: Node, at: Node) -> object:
    if not isinstance(item, Node) or value(pooled).dim() == rank:
        return item
    lengths = (1,) * (rank - value(item).dim()) + shape(item)
    return insert(at, aten.reshape.default, item, [length for i, length in enumerate(lengths) if i not in along])
