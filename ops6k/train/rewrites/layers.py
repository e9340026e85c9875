"""Linear and convolution layers as one thing: y = L(x; W) + b, where W has an axis of output channels.

What the folding passes share. A layer counts only where weight and bias depend on parameters and constants alone: arithmetic on
them is done once, by hoist_invariants.
"""

from dataclasses import dataclass

import torch
from torch.fx import Node

from ops6k.train.rewrites.graphs import HALF, aten, bound, dtype, insert, is_call, is_invariant, lengths_in, numel, shape, value

_CONVOLUTIONS = (aten.conv1d, aten.conv2d, aten.conv3d)
_TRANSPOSED = (aten.conv_transpose1d, aten.conv_transpose2d, aten.conv_transpose3d)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer in the graph."""

    node: Node
    x: Node
    weight: Node
    """As F.linear (out, in), F.conv2d (out, in / groups, ...) or F.conv_transpose2d (in, out / groups, ...) take it."""
    bias: Node | None
    channels: int
    axis: int
    """Of the channels in the output."""
    groups: int
    kind: str
    """linear, convolution or transposed."""


def layer_of(node: object) -> Layer | None:
    """The layer that a call computes, None where it is none or its weights depend on inputs. x @ W counts as one."""
    found = _linear(node) or _convolution(node)
    return found if found and is_invariant(found.weight) and is_invariant(found.bias) else None


def _linear(node: object) -> Layer | None:
    if is_call(node, aten.linear):
        x, weight, bias = (bound(node)[name] for name in ("input", "weight", "bias"))
        if value(weight).dim() != 2 or (bias is not None and shape(bias) != shape(weight)[:1]):
            return None
        return Layer(node, x, weight, bias, shape(weight)[0], value(node).dim() - 1, 1, "linear")
    if is_call(node, aten.matmul, aten.mm):
        x, factor = node.args[:2]
        if is_invariant(factor) and value(factor).dim() == 2 and value(x).dim() >= 2:
            return Layer(node, x, factor, None, shape(factor)[1], value(node).dim() - 1, 1, "product")
    return None


def _convolution(node: object) -> Layer | None:
    if not is_call(node, *_CONVOLUTIONS, *_TRANSPOSED):
        return None
    kind = "transposed" if is_call(node, *_TRANSPOSED) else "convolution"
    named = bound(node)
    weight, groups = named["weight"], named["groups"]
    channels = shape(weight)[1] * groups if kind == "transposed" else shape(weight)[0]
    axis = value(node).dim() - (value(weight).dim() - 2) - 1
    return Layer(node, named["input"], weight, named["bias"], channels, axis, groups, kind)


def rebuilt(layer: Layer, before: Node, weight: Node, bias: Node | None, x: Node | None = None) -> Node:
    """The layer with other weights (of the same layout), in front of a node."""
    x = layer.x if x is None else x
    if layer.kind == "product":
        if bias is None:
            return insert(before, layer.node.target, x, weight)
        return insert(before, aten.linear.default, x, insert(before, aten.t.default, weight), bias)
    if layer.kind == "linear":
        return insert(before, aten.linear.default, x, weight, bias)
    named = bound(layer.node) | {"input": x, "weight": weight, "bias": bias}
    order = [argument.name for argument in layer.node.target._schema.arguments]
    return insert(before, layer.node.target, *(named[name] for name in order))


def out_in(layer: Layer, before: Node) -> Node:
    """The weight of a linear layer as (out, in)."""
    return insert(before, aten.t.default, layer.weight) if layer.kind == "product" else layer.weight


def per_channel(operand: Node, layer: Layer, out_shape: tuple[int, ...]) -> bool:
    """Whether a tensor is one number, or one for each output channel, as it broadcasts against the layer's output."""
    lengths = lengths_in(operand, len(out_shape))
    if lengths is None:
        return False
    others = [length for i, length in enumerate(lengths) if i != layer.axis]
    return all(length == 1 for length in others) and (not lengths or lengths[layer.axis] in (1, layer.channels))


def wide(node: Node, before: Node) -> Node:
    """Reduced precision as float32: weights are worked on there and rounded once."""
    if node.meta.get("rounded"):
        return node.args[0]
    return insert(before, aten.to.dtype, node, torch.float32) if dtype(node) in HALF else node


def narrow(node: Node, to: torch.dtype, before: Node) -> Node:
    """Weights rounded, at the end; `wide` takes what was rounded where more is done to them."""
    if dtype(node) == to:
        return node
    made = insert(before, aten.to.dtype, node, to)
    made.meta["rounded"] = True
    return made


def scaled_weight(layer: Layer, weight: Node, scale: Node | float, before: Node, divide: bool = False) -> Node:
    """weight * scale (or / scale), a number or (channels,) or one element, along the axis of output channels."""
    target = aten.div.Tensor if divide else aten.mul.Tensor
    if not isinstance(scale, Node) or numel(scale) == 1:
        scale = insert(before, aten.reshape.default, scale, []) if isinstance(scale, Node) else scale
        return insert(before, target, weight, scale)
    if layer.kind == "product":
        return insert(before, target, weight, scale)
    full = shape(weight)
    if layer.kind != "transposed":
        ones = [1] * (len(full) - 1)
        return insert(before, target, weight, insert(before, aten.reshape.default, scale, [layer.channels, *ones]))
    grouped = [layer.groups, full[0] // layer.groups, *full[1:]]
    factors = insert(before, aten.reshape.default, scale, [layer.groups, 1, full[1], *[1] * (len(full) - 2)])
    product = insert(before, target, insert(before, aten.reshape.default, weight, grouped), factors)
    return insert(before, aten.reshape.default, product, list(full))
