"""In-place operators made ordinary ones, and nodes that do nothing without gradients left out."""

import operator

import torch
from torch.fx import Graph, Node

from ops6k.train.rewrites.graphs import VIEWS, aten, bound, calls, drop_unused, is_call, replace, returned, value


def is_functional(graph: Graph) -> bool:
    return not any(_mutates(node) for node in graph.nodes)


def _mutates(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return node.op == "call_function" and schema is not None and schema.is_mutable and node.target is not aten.detach_.default


def functionalise(graph: Graph) -> None:
    """relu_(x) as relu(x), and every later use of x as a use of that, where x is a fresh tensor without views.

    Leaves all other in-place operators in place: torch.export's decompositions handle views, at the price of more nodes.
    """
    for node in list(graph.nodes):
        if _mutates(node) and _is_simple(node):
            target = _ordinary(node)
            if target is not None:
                _swap(node, target)


def _is_simple(node: Node) -> bool:
    """Changes its first argument alone, which is a fresh tensor that no view shares, up to here."""
    first = node.args[0] if node.args else None
    changed = [argument for argument in node.target._schema.arguments if argument.alias_info and argument.alias_info.is_write]
    if not isinstance(first, Node) or len(changed) != 1 or first.op != "call_function":
        return False
    fresh = not is_call(first, *VIEWS) and first.target is not operator.getitem and not _mutates(first)
    aliased = any(is_call(user, *VIEWS) or _mutates(user) for user in first.users if user is not node)
    return fresh and not aliased and first not in node.args[1:]


def _ordinary(node: Node) -> object | None:
    """The overload of the same arguments that returns a new tensor of the same shape and dtype."""
    name = node.target._schema.name.split("::")[1]
    packet = getattr(aten, name.removesuffix("_"), None)
    overload = getattr(packet, node.target._overloadname, None) if name.endswith("_") else None
    if overload is None or overload._schema.is_mutable:
        return None
    fake = torch.fx.map_arg((node.args, node.kwargs), value)
    made = overload(*fake[0], **fake[1])
    kept = value(node.args[0])
    return overload if (made.shape, made.dtype) == (kept.shape, kept.dtype) else None


def _swap(node: Node, target: object) -> None:
    changed = node.args[0]
    before = set()
    for other in node.graph.nodes:
        if other is node:
            break
        before.add(other)
    changed.replace_all_uses_with(node, delete_user_cb=lambda user: user is not node and user not in before)
    node.target = target


def clean(graph: Graph) -> None:
    """Leaves out assertions, detach, dropout in eval mode and copies of fresh constants; a view that needs its argument's layout
    becomes a reshape, because passes may change layouts."""
    for node in list(graph.nodes):
        if node.op == "call_function" and getattr(node.target, "__name__", "") == "_set_grad_enabled":
            graph.erase_node(node)
    for node in calls(graph, aten._assert_tensor_metadata, aten._assert_async, aten.sym_constrain_range_for_size):
        graph.erase_node(node)
    _whole_batch_norms(graph)
    kept = returned(graph)
    for node in calls(graph, aten.detach, aten.detach_, aten.alias, aten.lift_fresh_copy, aten.lift_fresh):
        if node not in kept:
            replace(node, node.args[0])
    for node in calls(graph, aten.dropout, aten.feature_dropout, aten.alpha_dropout, aten.feature_alpha_dropout):
        if not bound(node)["train"] and node not in kept:
            replace(node, node.args[0])
    for node in calls(graph, aten.view, aten._unsafe_view, aten.view_as):
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
        elif node.target is aten.view_as.default:
            node.target = aten.reshape_as.default
    drop_unused(graph)


def _whole_batch_norms(graph: Graph) -> None:
    """What decompositions made of aten.batch_norm in eval mode, back as that."""
    for node in calls(graph, aten._native_batch_norm_legit_no_training):
        users = list(node.users)
        if all(user.target is operator.getitem and user.args[1] == 0 for user in users):
            arguments = (*node.args[:5], False, *node.args[5:], True)
            for user in users:
                user.target, user.args = aten.batch_norm.default, arguments
            graph.erase_node(node)
