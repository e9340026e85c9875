"""Moves that undo each other: transposes, reshapes, copies, cat and split, flip and roll."""

import operator

import torch
from torch.fx import Graph, Node

from ops6k.train.rewrites.graphs import (
    VIEWS,
    aten,
    bound,
    drop_unused,
    dtype,
    insert,
    is_call,
    replace,
    returned,
    shape,
    value,
)

_PERMUTING = (aten.permute, aten.transpose, aten.t, aten.numpy_T, aten.swapaxes, aten.mT)
_RESHAPING = (aten.reshape, aten.unsqueeze, aten.squeeze, aten.flatten, aten.unflatten)
_COPIES = (aten.clone, aten.contiguous, aten.to)
_SPLITS = (aten.split, aten.split_with_sizes, aten.chunk)


def cancel_moves(graph: Graph) -> int:
    """Moves of elements that undo each other, are made in two steps, or do nothing.

    A permutation of a permutation is one, and none where it is the identity. A reshape keeps the order of elements, so the last of
    several says it all, and one to the same shape does nothing. A copy to the same dtype and layout changes no value; it stays
    where it is returned (its memory would be an input's) or laid out anew for more than moves. split of cat at the same places
    gives the parts back, cat of all parts of a split the whole; flip twice along the same axes and rolls that sum to 0 are nothing.
    What an operator reads by its layout in memory keeps that.
    """
    kept, laid_out = returned(graph), _laid_out(graph)
    changed = 0
    for node in list(graph.nodes):
        if node._erased or node.op != "call_function" or not node.users or node in laid_out:
            continue
        for rule in (_permutation, _reshape, _copy, _part_of_cat, _cat_of_parts, _there_and_back):
            made = rule(node, kept)
            if made is not None and made is not node:
                changed += replace(node, made)
                break
    drop_unused(graph)
    return changed


def _laid_out(graph: Graph) -> set[Node]:
    """What an operator that asks for a layout gets, through moves."""
    waiting = [node.args[0] for node in graph.nodes if is_call(node, aten.view, aten.view_as_complex)]
    found: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes if is_call(node, *_PERMUTING, *_RESHAPING, *_COPIES, *VIEWS) else []
    return found


def permutation_of(node: object) -> list[int] | None:
    """The order of axes as torch.permute takes it."""
    if not is_call(node, *_PERMUTING):
        return None
    rank = value(node).dim()
    order = list(range(rank))
    if is_call(node, aten.permute):
        return [dim % rank for dim in bound(node)["dims"]]
    if is_call(node, aten.numpy_T):
        return order[::-1]
    if rank < 2:
        return order
    named = bound(node)
    first, second = named.get("dim0", named.get("axis0", -2)), named.get("dim1", named.get("axis1", -1))
    order[first % rank], order[second % rank] = order[second % rank], order[first % rank]
    return order


def _permutation(node: Node, kept: set[Node]) -> Node | None:
    outer = permutation_of(node)
    if outer is None:
        return None
    if outer == sorted(outer):
        return node.args[0]
    inner = permutation_of(node.args[0])
    if inner is None:
        return None
    both, base = [inner[i] for i in outer], node.args[0].args[0]
    return base if both == sorted(both) else insert(node, aten.permute.default, base, both)


def _reshape(node: Node, kept: set[Node]) -> Node | None:
    if not is_call(node, *_RESHAPING):
        return None
    base = node.args[0]
    while is_call(base, *_RESHAPING):
        base = base.args[0]
    if shape(base) == shape(node):
        return base
    return None if base is node.args[0] else insert(node, aten.reshape.default, base, list(shape(node)))


def _copy(node: Node, kept: set[Node]) -> Node | None:
    """The argument of a copy that nothing needs."""
    if not is_call(node, *_COPIES) or node in kept:
        return None
    base, named = node.args[0], bound(node)
    if not isinstance(base, Node) or dtype(base) != dtype(node) or value(base).device != value(node).device:
        return None
    # A schema gives the default of contiguous as a number.
    ordinary = named.get("memory_format") in (None, 0, torch.contiguous_format, torch.preserve_format)
    same = value(base).stride() == value(node).stride()
    moved_on = all(is_call(user, *_PERMUTING, *_RESHAPING, aten.contiguous, aten.clone) for user in node.users)
    return base if ordinary and (same or moved_on) else None


def _pieces(split: Node) -> tuple[Node, list[int], int] | None:
    """What is split, the lengths of the parts, and the axis."""
    if not is_call(split, *_SPLITS) or not isinstance(value(split), tuple | list):
        return None
    named, parts = bound(split), value(split)
    dim = named["dim"] % parts[0].dim()
    return split.args[0], [part.shape[dim] for part in parts], dim


def _part_of_cat(node: Node, kept: set[Node]) -> Node | None:
    if node.target is operator.getitem:
        pieces = _pieces(node.args[0])
        if pieces is None:
            return None
        whole, lengths, dim = pieces
        start = sum(lengths[: node.args[1]])
        return _part(whole, dim, start, start + lengths[node.args[1]])
    if is_call(node, aten.slice, aten.narrow):
        named, whole = bound(node), node.args[0]
        dim, length = named["dim"] % value(whole).dim(), shape(node)[named["dim"]]
        start = named["start"] or 0
        if not isinstance(start, int) or named.get("step", 1) != 1:
            return None
        start = start + shape(whole)[dim] if start < 0 else start
        return _part(whole, dim, start, start + length)
    return None


def _part(whole: Node, dim: int, start: int, end: int) -> Node | None:
    """The tensor that stands at these places of a cat."""
    if not is_call(whole, aten.cat) or bound(whole)["dim"] % value(whole).dim() != dim:
        return None
    place = 0
    for part in whole.args[0]:
        length = shape(part)[dim] if value(part).dim() == value(whole).dim() else 0
        if (place, place + length) == (start, end) and dtype(part) == dtype(whole):
            return part
        place += length
    return None


def _cat_of_parts(node: Node, kept: set[Node]) -> Node | None:
    """What was split, where all its parts come together again in order."""
    if not is_call(node, aten.cat) or not node.args[0]:
        return None
    parts, first = list(node.args[0]), node.args[0][0]
    if any(part.target is not operator.getitem or part.args[0] is not first.args[0] for part in parts):
        return None
    pieces = _pieces(first.args[0])
    if pieces is None or [part.args[1] for part in parts] != list(range(len(pieces[1]))):
        return None
    return pieces[0] if bound(node)["dim"] % value(node).dim() == pieces[2] else None


def _there_and_back(node: Node, kept: set[Node]) -> Node | None:
    """flip of flip along the same axes, rolls that sum to nothing."""
    inner = node.args[0] if node.args else None
    if not is_call(node, aten.flip, aten.roll) or not is_call(inner, node.target.overloadpacket):
        return None
    base, rank = inner.args[0], value(node).dim()
    if is_call(node, aten.flip):
        outer_dims, inner_dims = ({dim % rank for dim in bound(flip)["dims"]} for flip in (node, inner))
        return base if outer_dims == inner_dims else None
    shifts = [_shifts(roll, rank) for roll in (node, inner)]
    if None in shifts:
        return None
    total = {dim: shifts[0].get(dim, 0) + shifts[1].get(dim, 0) for dim in shifts[0] | shifts[1]}
    return base if all(shift % max(shape(node)[dim], 1) == 0 for dim, shift in total.items()) else None


def _shifts(roll: Node, rank: int) -> dict[int, int] | None:
    """By axis, how far a roll goes."""
    named = bound(roll)
    dims, shifts = [dim % rank for dim in named["dims"]], list(named["shifts"])
    return dict(zip(dims, shifts, strict=True)) if dims and len(set(dims)) == len(dims) else None
