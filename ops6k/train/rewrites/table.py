"""The table of passes, and how several are done together."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torch.fx import Graph

from ops6k.train.rewrites.fold import fold_batch_norm, fold_scale
from ops6k.train.rewrites.graphs import aten, insert, memory_of, returned
from ops6k.train.rewrites.invariant import common_subexpressions, hoist_invariants
from ops6k.train.rewrites.linear import diagonal_matmul, merge_linear, reduce_linear
from ops6k.train.rewrites.moves import cancel_moves
from ops6k.train.rewrites.pointwise import idempotent
from ops6k.train.rewrites.pool import commute_pool
from ops6k.train.rewrites.program import Program
from ops6k.train.rewrites.shift import shift_invariance

ROUNDS = 10
"""At most so many times over all passes; each round but the last shortens the graph."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One pass."""

    name: str
    does: str
    """One line for a person."""
    apply: Callable[[Graph], int]
    """Changes a graph; how many places, 0 where it does not apply."""


REWRITES: dict[str, Rewrite] = {
    rewrite.name: rewrite
    for rewrite in (
        Rewrite("fold_batch_norm", "batch norm folded into the layer before it", fold_batch_norm),
        Rewrite("fold_scale", "scale, bias and division folded into the layer before them", fold_scale),
        Rewrite("shift_invariance", "shifts left out that softmax does not see; log of softmax as one", shift_invariance),
        Rewrite("idempotent", "operators left out that do nothing; two clamps as one", idempotent),
        Rewrite("diagonal_matmul", "products with diagonal matrices as scalings", diagonal_matmul),
        Rewrite("commute_pool", "pointwise work moved behind pooling", commute_pool),
        Rewrite("reduce_linear", "sum or mean of a linear layer as a product with summed weights", reduce_linear),
        Rewrite("merge_linear", "two linear layers as one", merge_linear),
        Rewrite("cancel_moves", "transposes, reshapes and copies cancelled", cancel_moves),
        Rewrite("common_subexpressions", "what is computed twice is computed once", common_subexpressions),
        Rewrite("hoist_invariants", "what depends on weights alone is computed once", hoist_invariants),
    )
}
"""In order of application."""


def rewritten(program: Program, names: Iterable[str]) -> Program:
    """A copy with these rewrites done, together, until none applies; with any of them, hoist_invariants last.

    Raises KeyError for a name that the table does not have.
    """
    made = program.copy()
    asked = {REWRITES[name].name for name in names}
    passes = [rewrite for name, rewrite in REWRITES.items() if name in asked and name != "hoist_invariants"]
    for _ in range(ROUNDS):
        if not sum(rewrite.apply(made.graph) for rewrite in passes):
            break
    _own_outputs(program.graph, made.graph)
    if asked:
        hoist_invariants(made.graph)
    return made


def _own_outputs(before: Graph, after: Graph) -> None:
    """Copies what is returned, where it would be memory of an input or a weight and was not before."""
    kept = {node.name for node in returned(before)}
    output = after.output_node()
    for node in output.all_input_nodes:
        if any(leaf.op != "call_function" and leaf.name not in kept for leaf in memory_of(node)):
            output.replace_input_with(node, insert(output, aten.clone.default, node))


def applicable(program: Program) -> tuple[str, ...]:
    """Names of the rewrites that change something on their own, in the table's order."""
    return tuple(name for name, rewrite in REWRITES.items() if rewrite.apply(program.copy().graph))
