"""Shifts that softmax and its kin do not see, or hand on."""

from torch.fx import Graph, Node

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
    is_finite,
    like,
    replace,
    shape,
    used_once,
    value,
)  # fmt: skip


def shift_invariance(graph: Graph) -> int:
    """softmax(x + c) without c, logsumexp(x + c) as logsumexp(x) + c, log of softmax as log_softmax.

    For c constant along the axis, exp(x_i + c) / sum_j exp(x_j + c) = exp(x_i) / sum_j exp(x_j), since exp(c) cancels;
    log sum_j exp(x_j + c) = c + log sum_j exp(x_j); layer_norm subtracts the mean, which takes c with it, and the variance does not
    change. log(exp(x_i) / sum) is log_softmax by definition. Needs a finite c that does not broadcast x to another shape or dtype,
    and for the last two that the intermediate is used nowhere else.
    """
    changed = 0
    for node in calls(graph, aten.softmax, aten.log_softmax, aten._softmax, aten._log_softmax, aten.layer_norm):
        shifted = _shift(node.args[0], _along(node))
        if shifted:
            changed += replace(node, like(node, shifted[0], node))
    for node in calls(graph, aten.logsumexp):
        shifted = _shift(node.args[0], _along(node))
        if shifted and used_once(node.args[0]):
            changed += replace(node, _handed_on(node, *shifted))
    for node in calls(graph, aten.log):
        inner = node.args[0]
        if is_call(inner, aten.softmax) and used_once(inner) and dtype(inner) == dtype(inner.args[0]):
            changed += replace(node, insert(node, aten.log_softmax.int, *inner.args, **inner.kwargs))
    drop_unused(graph)
    return changed


def _along(node: Node) -> tuple[int, ...]:
    """The axes over which a node normalises or sums."""
    rank, named = value(node.args[0]).dim(), bound(node)
    if is_call(node, aten.layer_norm):
        return tuple(range(rank - len(named["normalized_shape"]), rank))
    return axes(named["dim"], rank) if rank else ()


def _shift(node: object, along: tuple[int, ...]) -> tuple[Node, object, float] | None:
    """x, c and a of x + a c, where c is constant along these axes and does not change x's shape or dtype."""
    if not is_call(node, aten.add, aten.sub) or not along:
        return None
    named = bound(node)
    first, second = named["self"], named["other"]
    sign = 1 if is_call(node, aten.add) else -1
    pairs = [(first, second, sign * named["alpha"])]
    if sign == 1 and named["alpha"] == 1:
        pairs.append((second, first, 1))
    for x, c, alpha in pairs:
        whole = (
            isinstance(x, Node) and (shape(x), dtype(x)) == (shape(node), dtype(node)) and (isinstance(c, Node) or is_finite(c))
        )
        if whole and any(shape(x)[i] > 1 for i in along) and constant_along(c, along, value(x).dim()):
            return x, c, alpha
    return None


def _handed_on(node: Node, x: Node, c: object, alpha: float) -> Node:
    made = like(node, x, node)
    if not isinstance(c, Node):
        return insert(node, aten.add.Tensor, made, alpha * c)
    along, rank = _along(node), value(x).dim()
    if not bound(node)["keepdim"]:
        lengths = (1,) * (rank - value(c).dim()) + shape(c)
        c = insert(node, aten.reshape.default, c, [length for i, length in enumerate(lengths) if i not in along])
    return insert(node, aten.add.Tensor, made, c, **({} if alpha == 1 else {"alpha": alpha}))
