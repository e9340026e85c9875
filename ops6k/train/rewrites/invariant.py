"""Work done twice, and work on weights that need not be repeated."""

import operator

from torch.fx import Graph, Node

from ops6k.train.rewrites.graphs import VIEWS, drop_unused, is_call, is_random, replace, returned, value


def common_subexpressions(graph: Graph) -> int:
    """Calls with the same operator and arguments are computed once.

    An ATen operator without randomness or in-place effects is a function of its arguments. What is returned stays: two outputs do
    not become one tensor.
    """
    seen: dict[object, Node] = {}
    kept = returned(graph)
    changed = 0
    for node in list(graph.nodes):
        if node.op not in ("call_function", "get_attr") or (node.op == "call_function" and is_random(node)):
            continue
        key = _key((node.op, node.target, node.args, tuple(sorted(node.kwargs.items()))))
        first = seen.setdefault(key, node)
        if first is not node and node.op == "get_attr":
            replace(node, first)
        elif first is not node and not (node in kept and first in kept):
            changed += replace(node, first)
    drop_unused(graph)
    return changed


def _key(value: object) -> object:
    """Hashable, and different where 1, 1.0 and True are different arguments."""
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(_key, value))
    return value if isinstance(value, Node) else (type(value).__name__, repr(value))


def hoist_invariants(graph: Graph) -> int:
    """What depends on parameters, buffers and constants alone is computed once, in `prepare`.

    The same calls on the same values: exact, as long as the parameters do not change (load_state_dict computes anew). Random nodes,
    mere views and what is returned stay, so that no caller holds memory that is to be used again. Returns how many nodes are newly
    hoisted.
    """
    kept = returned(graph)
    found: set[Node] = set()
    for node in graph.nodes:
        called = [other for other in node.all_input_nodes if other.op != "get_attr"]
        if node.op == "call_function" and node not in kept and not is_random(node) and found.issuperset(called):
            found.add(node)
    hoisted = set().union(*(_behind(node, found) for node in found if not _is_view(node)))
    # The parts of a list go with it: only tensors are kept.
    hoisted |= {node for node in found if node.target is operator.getitem and node.args[0] in hoisted}
    changed = 0
    for node in hoisted:
        changed += not node.meta.get("prepare")
        node.meta["prepare"] = True
    return changed


def _is_view(node: Node) -> bool:
    values = [item for item in (value(node), *(value(x) for x in node.all_input_nodes)) if hasattr(item, "dtype")]
    return (is_call(node, *VIEWS) or node.target is operator.getitem) and len({item.dtype for item in values}) <= 1


def _behind(node: Node, found: set[Node]) -> set[Node]:
    """The node and the invariant calls that it is computed from."""
    waiting, seen = [node], set()
    while waiting:
        current = waiting.pop()
        if current in found and current not in seen:
            seen.add(current)
            waiting += current.all_input_nodes
    return seen
