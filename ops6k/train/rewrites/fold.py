"""Batch norm, scale and bias after a layer, folded into its weights."""

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
    is_finite,
    is_invariant,
    like,
    numel,
    replace,
    shape,
    used_once,
    value,
)  # fmt: skip
from ops6k.train.rewrites.layers import Layer, layer_of, narrow, per_channel, rebuilt, scaled_weight, wide

_MOVES = (aten.reshape, aten.transpose, aten.permute, aten.t, aten.unsqueeze, aten.squeeze, aten.flatten, aten.unflatten,
          aten.contiguous, aten.numpy_T)  # fmt: skip
_ARITHMETIC = (aten.mul, aten.div, aten.add, aten.sub, aten.rsub, aten.neg)


@dataclass(frozen=True, slots=True)
class Step:
    """One pointwise operation on y with a constant c."""

    y: Node
    op: str
    """mul (y * c), div (y / c), add (y + alpha * c) or rsub (c - alpha * y)."""
    operand: Node | float
    alpha: float = 1.0


def fold_batch_norm(graph: Graph) -> int:
    """Batch norm in eval mode after a convolution, transposed convolution or linear layer, as other weights.

    With s = w / sqrt(var + eps), BN(y) = s * y + (b - mean * s) for each channel. A layer y = L(x; W) + c is linear in W, and s_o
    scales output channel o alone, so BN(y) = L(x; s W) + (s c + b - mean s). Needs running statistics, floating point, channels
    on axis 1 of y, and y used nowhere else.
    """
    changed = 0
    for node in calls(graph, aten.batch_norm):
        named = bound(node)
        y, mean, var = named["input"], named["running_mean"], named["running_var"]
        layer = layer_of(y)
        parts = [named["weight"], named["bias"], mean, var]
        if named["training"] or mean is None or layer is None or not used_once(y) or not all(map(is_invariant, parts)):
            continue
        if layer.axis == 1 and dtype(node) == dtype(y) and value(y).is_floating_point():
            changed += replace(node, _with_batch_norm(layer, node, named))
    drop_unused(graph)
    return changed


def _with_batch_norm(layer: Layer, node: Node, named: dict) -> Node:
    mean, var = wide(named["running_mean"], node), wide(named["running_var"], node)
    root = insert(node, aten.rsqrt.default, insert(node, aten.add.Tensor, var, named["eps"]))
    scale = root if named["weight"] is None else insert(node, aten.mul.Tensor, root, wide(named["weight"], node))
    moved = insert(node, aten.mul.Tensor, mean, scale)
    shift = (
        insert(node, aten.neg.default, moved)
        if named["bias"] is None
        else insert(node, aten.sub.Tensor, wide(named["bias"], node), moved)
    )
    weight = scaled_weight(layer, wide(layer.weight, node), scale, node)
    if layer.bias is not None:
        shift = insert(node, aten.add.Tensor, insert(node, aten.mul.Tensor, wide(layer.bias, node), scale), shift)
    return rebuilt(layer, node, narrow(weight, dtype(layer.weight), node), narrow(shift, dtype(layer.weight), node))


def step_of(node: Node) -> Step | None:
    """A multiplication, division, addition or subtraction of something by a finite constant of its dtype, without broadcasting it."""
    if not is_call(node, *_ARITHMETIC):
        return None
    if is_call(node, aten.neg):
        return Step(node.args[0], "mul", -1.0)
    named = bound(node)
    first, second, alpha = named["self"], named["other"], named.get("alpha", 1)
    if named.get("rounding_mode") is not None or not all(is_finite(x) for x in (first, second, alpha) if not isinstance(x, Node)):
        return None
    op = node.target.overloadpacket.__name__.split(".")[-1]
    step = _step(op, first, second, float(alpha))
    if step is None or shape(step.y) != shape(node) or dtype(step.y) != dtype(node) or not value(node).is_floating_point():
        return None
    return step


def _step(op: str, first: object, second: object, alpha: float) -> Step | None:
    def varies(item: object) -> bool:
        return isinstance(item, Node) and not is_invariant(item)

    if varies(first) == varies(second):
        return None
    if op == "mul":
        return Step(first, op, second) if varies(first) else Step(second, op, first)
    if op == "div":
        return Step(first, op, second) if varies(first) and second != 0 else None
    if op == "add":
        return Step(first, op, second, alpha) if varies(first) else Step(second, op, first) if alpha == 1 else None
    if op == "rsub":
        first, second = second, first
    return Step(first, "add", second, -alpha) if varies(first) else Step(second, "rsub", first, alpha)


def fold_scale(graph: Graph) -> int:
    """Scale, bias, division and subtraction by constants after a layer, as other weights.

    A layer y = L(x; W) + b is linear in W, and a factor c_o for output channel o scales row o of W alone: c y = L(x; c W) + c b;
    y + c = L(x; W) + (b + c); c - a y = L(x; -a W) + (c - a b). c is a number, a tensor of one element, or one for each channel,
    known from parameters; one number also through transposes and reshapes, which only move elements. y is used nowhere else.
    """
    changed = 0
    for node in calls(graph, *_ARITHMETIC):
        step = step_of(node)
        if step is None:
            continue
        source, moves = step.y, []
        single = not isinstance(step.operand, Node) or numel(step.operand) == 1
        while single and is_call(source, *_MOVES) and used_once(source):
            moves.append(source)
            source = source.args[0]
        layer = layer_of(source)
        if layer and used_once(source) and (single or per_channel(step.operand, layer, shape(step.y))):
            new = _with_step(layer, step, node)
            for move in reversed(moves):
                new = like(move, new, node)
            changed += replace(node, new)
    drop_unused(graph)
    return changed


def _with_step(layer: Layer, step: Step, node: Node) -> Node:
    kept, operand = dtype(layer.weight), step.operand
    if isinstance(operand, Node):
        count = layer.channels if numel(operand) == layer.channels else 1
        operand = insert(node, aten.reshape.default, wide(operand, node), [count])
    weight, bias = _folded(layer, step, operand, node)
    return rebuilt(layer, node, narrow(weight, kept, node), None if bias is None else narrow(bias, kept, node))


def _folded(layer: Layer, step: Step, operand: Node | float, before: Node) -> tuple[Node, Node | None]:
    weight = wide(layer.weight, before)
    bias = None if layer.bias is None else wide(layer.bias, before)
    if step.op in ("mul", "div"):
        target = aten.mul.Tensor if step.op == "mul" else aten.div.Tensor
        scaled = scaled_weight(layer, weight, operand, before, divide=step.op == "div")
        return scaled, None if bias is None else insert(before, target, bias, operand)
    if step.op == "rsub":
        weight = insert(before, aten.mul.Tensor, weight, -step.alpha)
        bias = None if bias is None else insert(before, aten.mul.Tensor, bias, -step.alpha)
        return weight, _shifted(layer, bias, operand, 1.0, weight, before)
    return weight, _shifted(layer, bias, operand, step.alpha, weight, before)


def _shifted(layer: Layer, bias: Node | None, operand: Node | float, alpha: float, weight: Node, before: Node) -> Node:
    """bias + alpha * operand, (channels,); without a bias it starts from zero."""
    if bias is None:
        bias = insert(before, aten.new_zeros.default, weight, [layer.channels])
    if not isinstance(operand, Node):
        return insert(before, aten.add.Tensor, bias, alpha * operand)
    return insert(before, aten.add.Tensor, bias, operand, **({} if alpha == 1 else {"alpha": alpha}))
