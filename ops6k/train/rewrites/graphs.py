"""What every pass needs of a graph: shapes, arguments by name, what depends on weights alone, new nodes with their shapes.

A graph is a torch.fx.Graph of ATen calls without in-place operators. A `get_attr` node is a parameter, a buffer or a constant,
a `placeholder` a tensor among the inputs. `meta["val"]` is a fake tensor: shape, dtype and device of the node.
"""

import math
import operator
from collections.abc import Iterator, Sequence

import torch
from torch.fx import Graph, Node

aten = torch.ops.aten

HALF = (torch.bfloat16, torch.float16)

VIEWS = (
    aten.view, aten.reshape, aten.transpose, aten.permute, aten.t, aten.unsqueeze, aten.squeeze, aten.flatten, aten.unflatten,
    aten.expand, aten.expand_as, aten.select, aten.slice, aten.narrow, aten.alias, aten.detach, aten.view_as, aten.numpy_T,
    aten.movedim, aten.swapaxes, aten.split, aten.split_with_sizes, aten.chunk, aten.unbind, aten.diagonal, aten.contiguous,
    aten.to, aten._unsafe_view, aten.reshape_as, aten.unfold, aten.real, aten.view_as_real, aten.view_as_complex, aten.as_strided,
    aten.mT, aten.moveaxis, aten.swapdims, aten.tensor_split, aten.adjoint, aten.expand_copy, aten.lift_fresh, aten.imag,
)  # fmt: skip
"""What may return memory of its first argument."""


def is_call(node: object, *packets: object) -> bool:
    """A call of one of these operators, whatever the overload."""
    return isinstance(node, Node) and node.op == "call_function" and getattr(node.target, "overloadpacket", None) in packets


def calls(graph: Graph, *packets: object) -> Iterator[Node]:
    """Such calls, in order; the graph may change meanwhile, and what is erased is not given."""
    for node in list(graph.nodes):
        if is_call(node, *packets) and not node._erased:
            yield node


def value(node: Node) -> object:
    return node.meta.get("val")


def shape(node: Node) -> tuple[int, ...]:
    return tuple(value(node).shape)


def dtype(node: Node) -> torch.dtype:
    return value(node).dtype


def is_tensor(node: object) -> bool:
    return isinstance(node, Node) and isinstance(value(node), torch.Tensor)


def is_number(operand: object) -> bool:
    return isinstance(operand, int | float) and not isinstance(operand, bool)


def is_finite(operand: object) -> bool:
    """A number, none of the infinities and no NaN: with those x - x and 0 * x are not 0."""
    return is_number(operand) and math.isfinite(operand)


def numel(node: Node) -> int:
    return math.prod(shape(node))


def bound(node: Node) -> dict[str, object]:
    """All arguments of an ATen call by the names of its schema, defaults filled in."""
    found = dict(node.kwargs)
    for index, argument in enumerate(node.target._schema.arguments):
        if index < len(node.args):
            found[argument.name] = node.args[index]
        else:
            found.setdefault(argument.name, argument.default_value)
    return found


def used_once(node: Node) -> bool:
    return len(node.users) == 1


def is_random(node: Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def is_invariant(node: object) -> bool:
    """Depends on parameters, buffers and constants alone; numbers do too."""
    waiting, seen = [node] if isinstance(node, Node) else [], set()
    while waiting:
        current = waiting.pop()
        if current.op not in ("call_function", "get_attr") or is_random(current):
            return False
        seen.add(current)
        waiting += [other for other in current.all_input_nodes if other not in seen]
    return True


def insert(before: Node, packet_overload: object, *args: object, **kwargs: object) -> Node:
    """A new call in front of a node, its shape worked out."""
    name = packet_overload.__name__.split(".")[0]
    with before.graph.inserting_before(before):
        node = before.graph.create_node("call_function", packet_overload, args, kwargs, name=name)
    fake_args, fake_kwargs = torch.fx.map_arg((args, kwargs), value)
    with torch.no_grad():
        node.meta["val"] = packet_overload(*fake_args, **fake_kwargs)
    return node


def like(node: Node, first: Node, before: Node) -> Node:
    """The same call on another first argument, in front of `before`."""
    return insert(before, node.target, first, *node.args[1:], **node.kwargs)


def replace(old: Node, new: Node) -> int:
    """Everything that used `old` uses `new`; 1, for counting."""
    old.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    if not old.users:
        old.graph.erase_node(old)
    return 1


def drop_unused(graph: Graph) -> None:
    """Erases what nothing uses, backwards; inputs stay, and so does what draws random numbers."""
    for node in reversed(list(graph.nodes)):
        if not node.users and node.op in ("call_function", "get_attr") and not is_random(node):
            graph.erase_node(node)


def returned(graph: Graph) -> set[Node]:
    """What the graph returns, and what may be memory of that: its arguments through views."""
    return set().union(*(memory_of(node) for node in graph.output_node().all_input_nodes))


def memory_of(node: Node) -> set[Node]:
    """The node, and whatever else may be the same memory: its arguments through views."""
    waiting = [node]
    found: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes if is_call(node, *VIEWS) or node.target is operator.getitem else []
    return found


def axis(position: int, rank: int) -> int:
    return position % rank if rank else 0


def axes(positions: object, rank: int) -> tuple[int, ...]:
    """Axes counted from the front, sorted; None and () are all of them."""
    if isinstance(positions, int):
        positions = [positions]
    return tuple(sorted({axis(position, rank) for position in positions})) if positions else tuple(range(rank))


def lengths_in(operand: Node, rank: int) -> tuple[int, ...] | None:
    """A tensor's shape as it broadcasts against `rank` axes, None where it has more."""
    have = shape(operand)
    return (1,) * (rank - len(have)) + have if len(have) <= rank else None


def constant_along(operand: object, along: Sequence[int], rank: int) -> bool:
    """A number, or a tensor that broadcasting repeats along these axes."""
    if not isinstance(operand, Node):
        return is_number(operand)
    lengths = lengths_in(operand, rank)
    return lengths is not None and all(lengths[i] == 1 for i in along)
