"""What the nodes of an ATen graph move and compute: bytes, FLOPs, the peak, a roofline estimate of the time. Nothing runs."""

import math
import operator
from collections.abc import Iterator

import torch
from torch.fx import Graph, Node
from torch.utils._pytree import tree_leaves, tree_map_only

from ops6k.records import Work
from ops6k.screen.flops import matrix_flops
from ops6k.target import TIERS_GIB, Target

_ALLOCATIONS = {"empty", "empty_like", "empty_strided", "new_empty", "scalar_tensor", "_linalg_check_errors", "lift_fresh_copy"}
"""Write nothing, or next to nothing."""
_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "pow": 1}


def compute_nodes(graph: Graph) -> Iterator[Node]:
    """Nodes that launch work: ATen calls that are no views, tuple accesses or allocations."""
    for node in graph.nodes:
        if node.op != "call_function" or node.target is operator.getitem or not hasattr(node.target, "_schema"):
            continue
        view = node.target.is_view or name_of(node) in ("_unsafe_view", "_reshape_alias", "detach")
        if not view and name_of(node) not in _ALLOCATIONS:
            yield node


def name_of(node: Node) -> str:
    """The ATen operator, without its overload."""
    return node.target._schema.name.split("::")[1]


def tensors_in(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def results(node: Node) -> list[torch.Tensor]:
    """The fake tensors that a node gives."""
    return tensors_in(node.meta.get("val"))


def _arguments(node: Node) -> list[torch.Tensor]:
    return [tensor for argument in node.all_input_nodes for tensor in results(argument)]


def bytes_of(tensor: torch.Tensor) -> int:
    """Bytes that reading the tensor touches: an expanded axis counts once."""
    sizes = [size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride != 0]
    return math.prod(int(size) for size in sizes) * tensor.element_size()


def moved_bytes(node: Node) -> int:
    """Read and written."""
    written = sum(map(bytes_of, results(node)))
    read = [bytes_of(tensor) for tensor in _arguments(node)]
    if name_of(node) in ("embedding", "index", "gather", "index_select", "take_along_dim"):
        # Reads as many elements of the table as it writes, not the whole table.
        read = [min(size, max(written, 1)) for size in read]
    return written + sum(read)


def flops_of(node: Node) -> int:
    """Of matrix products and convolutions; 0 for anything else."""
    args, kwargs = (tree_map_only(Node, lambda n: n.meta.get("val"), part) for part in (node.args, node.kwargs))
    return matrix_flops(node.target, args, kwargs, node.meta.get("val"))


def _dtype(node: Node) -> str:
    found = [t.dtype for t in _arguments(node) if t.is_floating_point()]
    return str(found[0]).removeprefix("torch.") if found else "float32"


def _arithmetic_s(node: Node, target: Target) -> float:
    return flops_of(node) / target.rate(_dtype(node))


def terms(graph: Graph, target: Target) -> dict[str, float]:
    """Milliseconds by ATen operator, as the target's rates say, slowdown apart."""
    found: dict[str, float] = {}
    for node in compute_nodes(graph):
        seconds = max(moved_bytes(node) / (target.bandwidth_gbs * 1e9), _arithmetic_s(node, target), target.overhead_us * 1e-6)
        found[name_of(node)] = found.get(name_of(node), 0.0) + 1e3 * seconds
    return found


def work_of(graph: Graph, target: Target) -> Work:
    """All that a row says of one forward."""
    launching = list(compute_nodes(graph))
    flop_s = sum(_arithmetic_s(node, target) for node in launching)
    ends = [n for n in graph.nodes if n.op == "placeholder" and n.users] + list(graph.output_node().all_input_nodes)
    io_bytes = sum(bytes_of(tensor) for node in ends for tensor in results(node))
    peak = _peak_bytes(graph)
    predicted_ms = sum(ms * target.slower(name) for name, ms in terms(graph, target).items())
    sol_ms = 1e3 * max(io_bytes / (target.bandwidth_gbs * 1e9), flop_s)
    return Work(
        bytes_moved=sum(map(moved_bytes, launching)),
        io_bytes=io_bytes,
        flops=sum(map(flops_of, launching)),
        peak_bytes=peak,
        predicted_ms=predicted_ms,
        sol_ms=sol_ms,
        fusion_headroom=predicted_ms / sol_ms if sol_ms else None,
        tier_gib=next((tier for tier in TIERS_GIB if peak <= tier * 2**30 * 0.95), None),
        operators=tuple(name_of(node) for node in launching if not _changes_nothing(node)),
    )


def _changes_nothing(node: Node) -> bool:
    """Arithmetic of one tensor with the constant that leaves it as it is: x * 1.0, x + 0."""
    constant = _NEUTRAL.get(name_of(node).rstrip("_"))
    return constant is not None and len(node.args) == 2 and isinstance(node.args[1], int | float) and node.args[1] == constant


def _peak_bytes(graph: Graph) -> int:
    """Most bytes alive at once: inputs and state stay, a result lives until its last reader (through views) is done."""
    order = {node: i for i, node in enumerate(graph.nodes)}
    owner: dict[Node, Node] = {}
    last: dict[Node, int] = {}
    for node in graph.nodes:
        aliases = node.op == "call_function" and node.all_input_nodes and not _allocates(node)
        owner[node] = owner[node.all_input_nodes[0]] if aliases else node
        for used in node.all_input_nodes:
            last[owner[used]] = order[node]
    alive = sum(bytes_of(t) for n in graph.nodes if n.op == "placeholder" for t in results(n))
    peak, ends = alive, {}
    for node in graph.nodes:
        if node.op == "call_function" and owner[node] is node:
            size = sum(map(bytes_of, results(node)))
            alive += size
            ends.setdefault(last.get(node, order[node]), []).append(size)
            peak = max(peak, alive)
        alive -= sum(ends.pop(order[node], []))
    return peak


def _allocates(node: Node) -> bool:
    if node.target is operator.getitem:
        return False
    return not (getattr(node.target, "is_view", False) or name_of(node) in ("_unsafe_view", "_reshape_alias", "detach"))
