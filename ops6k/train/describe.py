"""Makes the sketch of one task, inside a sandboxed child: two traces on fake tensors, nothing is allocated and nothing runs.

Standard library and torch only. Nodes are those of the screen's dry run, so that names, bytes and FLOPs are what the task's row
counts; which rewrites apply is asked of the graph that the measuring would capture.
"""

from collections.abc import Iterable
from unittest.mock import patch

import torch
from torch.fx import Graph
from torch.fx import Node as FxNode
from torch.utils._pytree import tree_map_only

from ops6k import store

# Private there; a public name would be another screen to whoever keeps its verdicts by the hash of its code.
from ops6k.screen.dry_run import DryRun, _apply_anew, _fake_mode, dry_run_code
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.load import load_task
from ops6k.screen.warm import MIXED, TARGET, dry_run_once
from ops6k.screen.work import bytes_of, compute_nodes, flops_of, moved_bytes, name_of, results
from ops6k.target import Target
from ops6k.train.plans import Plan
from ops6k.train.rewrites import NotCapturable, Program, applicable, capture, emit
from ops6k.train.sketch import INPUT, MOST_NODES, WEIGHT, Node, Sketch

_STATE = "state_"
"""How the dry run's placeholders of parameters and buffers begin; the others are arguments."""


def describe_tasks(payload: dict) -> dict:
    """{"made": [{"sketch": {...}, "why": ""}]} for the payload's "tasks", pairs of id and code, and "target"."""
    target = Target(**payload["target"])
    torch.set_num_threads(1)
    made = [describe(task_id, code, target) for task_id, code in payload["tasks"]]
    return {"made": [{"sketch": store.to_plain(sketch), "why": why} for sketch, why in made]}


def describe(task_id: str, code: str, target: Target) -> tuple[Sketch, str]:
    """The sketch, and why it lacks nodes or rewrites where it had to. Never raises for what the source does."""
    ran = dry_run_code(code, target)
    if isinstance(ran, Finding):
        return Sketch(task_id, (), (), False), ran.message
    try:
        rewrites, why = applicable(_program(code)), ""
    except NotCapturable as error:
        rewrites, why = (), str(error)
    return Sketch(task_id, nodes_of(ran.graph), rewrites, _has_images(ran)), why


def write_out(payload: dict) -> dict:
    """{"text": model_new.py} for the payload's "code" and "plan", by its name. Raises NotCapturable, UnknownPlan."""
    plan = Plan.named(payload["plan"])
    return {"text": emit(payload["code"], _program(payload["code"]) if plan.rewrites else None, plan)}


def _program(code: str) -> Program:
    """The graph that a model on the CPU gives. Raises NotCapturable."""
    with _fake_mode() as fake, torch.no_grad():

        def made() -> tuple[torch.nn.Module, list]:
            task = load_task(code)
            init_inputs = tree_map_only(torch.Tensor, fake.from_tensor, task.get_init_inputs())
            with patch.object(torch.nn.Module, "_apply", _apply_anew):
                return task.model(*init_inputs).eval(), list(task.get_inputs())

        model = attempt(made)
    if isinstance(model, Finding):
        raise NotCapturable(model.message)
    return capture(*model)


def _has_images(ran: DryRun) -> bool:
    """As the measuring asks it: an argument or a weight with four axes."""
    placeholders = [node for node in ran.graph.nodes if node.op == "placeholder"]
    return any(tensor.dim() == 4 for node in placeholders for tensor in results(node))


def nodes_of(graph: Graph) -> tuple[Node, ...]:
    """What launches work and what it starts from, at most MOST_NODES; views and allocations are left out, edges go through them."""
    launching = set(compute_nodes(graph))
    shown = {node: name for node in graph.nodes if (name := _operator(node, launching)) and results(node)}
    edges = _edges(graph, shown)
    kept = _nearest(graph, shown, edges)
    numbers = {node: number for number, node in enumerate(kept)}
    return tuple(_node(node, shown[node], [numbers[other] for other in edges[node] if other in numbers]) for node in kept)


def _operator(node: FxNode, launching: set[FxNode]) -> str | None:
    if node.op == "placeholder":
        return (WEIGHT if node.name.startswith(_STATE) else INPUT) if node.users else None
    return name_of(node) if node in launching else None


def _node(node: FxNode, operator: str, inputs: Iterable[int]) -> Node:
    first = results(node)[0]
    placeholder = node.op == "placeholder"
    return Node(
        operator=operator,
        dtype=str(first.dtype).removeprefix("torch."),
        shape=tuple(map(int, first.shape)),
        bytes=bytes_of(first) if placeholder else moved_bytes(node),
        flops=0 if placeholder else flops_of(node),
        inputs=tuple(inputs),
    )


def _edges(graph: Graph, shown: dict[FxNode, str]) -> dict[FxNode, list[FxNode]]:
    """By node, the shown nodes that it reads, each once, through views and tuples."""
    found: dict[FxNode, list[FxNode]] = {}
    for node in graph.nodes:
        read = dict.fromkeys(source for other in node.all_input_nodes for source in ([other] if other in shown else found[other]))
        found[node] = list(read)
    return found


def _nearest(graph: Graph, shown: dict[FxNode, str], edges: dict[FxNode, list[FxNode]]) -> list[FxNode]:
    """The nodes fewest steps from the output, of equals the later; in the graph's order."""
    steps = {graph.output_node(): 0}
    waiting = [graph.output_node()]
    for node in waiting:  # grows: breadth first
        for other in edges[node]:
            if other not in steps:
                steps[other] = steps[node] + 1
                waiting.append(other)
    order = {node: number for number, node in enumerate(shown)}
    nearest = sorted(shown, key=lambda node: (steps.get(node, len(order)), -order[node]))[:MOST_NODES]
    return sorted(nearest, key=order.__getitem__)


def sketch_once() -> None:
    """A fork server's warm-up: the first trace and the first export of a process take a second, the next 20 ms."""
    dry_run_once()
    sketch, why = describe("warm", MIXED, TARGET)
    if not sketch.nodes or why:
        raise RuntimeError(f"a task of our own has no sketch: {why}")
