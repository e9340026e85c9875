"""Fewer and smaller matrix products: reduced, merged and diagonal ones."""

import math

from torch.fx import Graph, Node

from ops6k.train.rewrites.graphs import (
    aten,
    axes,
    bound,
    calls,
    drop_unused,
    dtype,
    insert,
    is_call,
    numel,
    replace,
    shape,
    used_once,
    value,
)  # fmt: skip
from ops6k.train.rewrites.layers import Layer, layer_of, narrow, out_in, wide


def reduce_linear(graph: Graph) -> int:
    """Sum or mean of a linear layer's outputs, as a product with summed weights or of a summed input.

    sum_o (W x + b)_o = (sum_o W_o) x + sum_o b_o, a matrix-vector product; and over n rows, sum_i (W x_i + b) = W (sum_i x_i) + n b,
    so that mean_i (W x_i + b) = W (mean_i x_i) + b. Both at once where both are summed over. The mean over features divides by their
    number. The layer's output is used nowhere else, and the reduction does not change its dtype.
    """
    changed = 0
    for node in calls(graph, aten.sum, aten.mean):
        named = bound(node)
        y = named["self"]
        layer = layer_of(y)
        if layer and layer.kind in ("linear", "product") and used_once(y) and dtype(node) == dtype(y) and numel(y):
            changed += replace(node, _reduced(layer, node, axes(named.get("dim"), len(shape(y))), named.get("keepdim", False)))
    drop_unused(graph)
    return changed


def _reduced(layer: Layer, node: Node, dims: tuple[int, ...], keepdim: bool) -> Node:
    rank = len(shape(layer.node))
    rows = [dim for dim in dims if dim != rank - 1]
    count = math.prod(shape(layer.node)[dim] for dim in rows)
    is_mean = is_call(node, aten.mean)
    x, weight = layer.x, wide(out_in(layer, node), node)
    bias = None if layer.bias is None else wide(layer.bias, node)
    if rows:
        x = insert(node, aten.mean.dim if is_mean else aten.sum.dim_IntList, x, rows, True)
        bias = bias if bias is None or is_mean else insert(node, aten.mul.Tensor, bias, count)
    if rank - 1 in dims:
        over = aten.mean.dim if is_mean else aten.sum.dim_IntList
        weight = insert(node, over, weight, [0], True)
        bias = None if bias is None else insert(node, over, bias, [0], True)
    bias = None if bias is None else narrow(bias, dtype(layer.weight), node)
    made = insert(node, aten.linear.default, x, narrow(weight, dtype(layer.weight), node), bias)
    return made if keepdim else insert(node, aten.reshape.default, made, list(shape(node)))


def merge_linear(graph: Graph) -> int:
    """Two linear layers with nothing between them, as one, where that takes fewer FLOPs.

    W2 (W1 x + b1) + b2 = (W2 W1) x + (W2 b1 + b2). For weights (mid, in) and (out, mid) a row costs in * mid + mid * out before and
    in * out after: merged only where that is less. The output of the first is used nowhere else.
    """
    changed = 0
    for node in calls(graph, aten.linear, aten.matmul, aten.mm):
        second = layer_of(node)
        first = layer_of(second.x) if second else None
        if first is None or not used_once(first.node) or first.kind not in ("linear", "product"):
            continue
        inner, middle = shape(first.x)[-1], first.channels
        if inner * second.channels < middle * (inner + second.channels):
            changed += replace(node, _merged(first, second, node))
    drop_unused(graph)
    return changed


def _merged(first: Layer, second: Layer, node: Node) -> Node:
    kept = dtype(second.weight)
    inner, outer = wide(out_in(first, node), node), wide(out_in(second, node), node)
    weight = insert(node, aten.mm.default, outer, inner)
    bias = None if second.bias is None else wide(second.bias, node)
    if first.bias is not None:
        moved = insert(node, aten.mv.default, outer, wide(first.bias, node))
        bias = moved if bias is None else insert(node, aten.add.Tensor, moved, bias)
    bias = None if bias is None else narrow(bias, kept, node)
    return insert(node, aten.linear.default, first.x, narrow(weight, kept, node), bias)


def diagonal_matmul(graph: Graph) -> int:
    """A product with a diagonal matrix as a scaling, with the identity as nothing, and a triangle that keeps everything as nothing.

    (X diag(d))_ij = X_ij d_j and (diag(d) Y)_ij = d_i Y_ij: all other terms of the sums are products with 0, which are 0 for finite
    X and Y. eye(n) is diag(1, ..., 1). tril(X, k) keeps i - j >= -k, all of an (n, m) matrix where k >= m - 1; triu(X, k) keeps
    j - i >= k, all where k <= 1 - n. Same dtype before and after.
    """
    changed = 0
    for node in calls(graph, aten.matmul, aten.mm, aten.bmm, aten.linear):
        made = _scaled(node)
        if made is not None and (shape(made), dtype(made)) == (shape(node), dtype(node)):
            changed += replace(node, made)
    for node in calls(graph, aten.tril, aten.triu):
        (rows, columns), offset = shape(node)[-2:], bound(node)["diagonal"]
        if offset >= columns - 1 if is_call(node, aten.tril) else offset <= 1 - rows:
            changed += replace(node, node.args[0])
    drop_unused(graph)
    return changed


def _scaled(node: Node) -> Node | None:
    """The product as a scaling, None where no factor is diagonal."""
    first, second = node.args[:2]
    if is_call(node, aten.linear):
        made = _times(first, second, node, left=False)
        bias = bound(node)["bias"]
        return made if made is None or bias is None else insert(node, aten.add.Tensor, made, bias)
    return _times(first, second, node, left=False) or _times(second, first, node, left=True)


def _times(x: Node, matrix: Node, node: Node, left: bool) -> Node | None:
    """x @ matrix, or matrix @ x where it stands on the left."""
    if is_call(matrix, aten.eye) and len(set(shape(matrix))) == 1 and dtype(matrix) == dtype(x):
        return x
    diagonal = _diagonal_of(matrix)
    if diagonal is None or not value(x).is_floating_point():
        return None
    if value(x).dim() > 1:
        diagonal = insert(node, aten.unsqueeze.default, diagonal, -1 if left else -2)
    return insert(node, aten.mul.Tensor, x, diagonal)


def _diagonal_of(matrix: Node) -> Node | None:
    """d of diag(d), (..., n); transposed is the same."""
    while is_call(matrix, aten.t, aten.transpose, aten.tril, aten.triu):
        named = bound(matrix)
        dims = {named.get("dim0", -1) % value(matrix).dim(), named.get("dim1", -2) % value(matrix).dim()}
        if dims != {value(matrix).dim() - 1, value(matrix).dim() - 2} or not _keeps_diagonal(matrix, named):
            return None
        matrix = matrix.args[0]
    if is_call(matrix, aten.diag) and value(matrix.args[0]).dim() == 1 and bound(matrix)["diagonal"] == 0:
        return matrix.args[0]
    if is_call(matrix, aten.diag_embed):
        named, rank = bound(matrix), value(matrix).dim()
        last = {named["dim1"] % rank, named["dim2"] % rank} == {rank - 1, rank - 2}
        return matrix.args[0] if named["offset"] == 0 and last else None
    return None


def _keeps_diagonal(matrix: Node, named: dict) -> bool:
    offset = named.get("diagonal", 0)
    return offset >= 0 if is_call(matrix, aten.tril) else offset <= 0 if is_call(matrix, aten.triu) else True
