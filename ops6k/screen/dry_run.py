"""One forward without any memory: shapes, devices, bytes and FLOPs of a task before anything is allocated.

The module runs on fake tensors whose device is `meta`, standing for the accelerator: a tensor that stays on the CPU while
the model moves is found on a machine without an accelerator. Sizes that depend on data become symbols and are named as
such. The estimate of the run time sums over the operators max(bytes / bandwidth, FLOPs / rate, launch overhead).
Attention is counted unfused (as the meta device decomposes it), so its bytes are an upper bound.
"""

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._pytree import tree_leaves, tree_map_only

from ops6k.records import Reason, Work
from ops6k.screen.calls import Watch, on
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.flops import matrix_flops
from ops6k.screen.load import Loaded, load_task
from ops6k.screen.state import difference, remembered
from ops6k.target import TIERS_GIB, Target

ACCELERATOR = "meta"

_ALLOCATIONS = {"empty", "empty_like", "empty_strided", "new_empty", "scalar_tensor", "_linalg_check_errors", "lift_fresh_copy"}
"""Write nothing, or next to nothing."""
_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1, "pow": 1}
_GENERATORS = {"rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "random", "uniform", "normal", "log_normal",
    "exponential", "cauchy", "geometric", "bernoulli", "binomial", "poisson", "multinomial", "native_dropout"}  # fmt: skip
"""Of those that torch tags as seeded, the ones that always draw: attention is tagged for a dropout that it may not have."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What one forward would do on the target."""

    work: Work
    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    output_dtypes: tuple[str, ...]
    output_bytes: int
    terms: dict[str, float]
    """Milliseconds by ATen operator, as the target's rates say, slowdown apart: what predicted_ms is made of."""
    draws: tuple[str, ...]
    """ATen operators that draw random numbers whatever their arguments are."""
    unused_arguments: tuple[int, ...]
    """Arguments with a tensor that no operator reads."""
    unused_state: tuple[str, ...]
    """Parameters that no operator reads."""
    calls: Watch
    """What forward called."""


def dry_run_code(code: str, target: Target, ops: tuple[str, ...] = ()) -> DryRun | Finding:
    """The dry run of a source text; never raises for what the source does."""
    loaded = attempt(lambda: load_task(code))
    if isinstance(loaded, Finding):
        return loaded
    init_inputs = attempt(loaded.get_init_inputs)
    return init_inputs if isinstance(init_inputs, Finding) else dry_run(loaded, init_inputs, target, ops)


def dry_run(task: Loaded, init_inputs: list, target: Target, ops: tuple[str, ...] = ()) -> DryRun | Finding:
    """The dry run of a loaded task; never raises for what the task does. init_inputs: real, as the task gives them. ops: labels,
    of which those of transformers name helpers that are called as one."""
    with _fake_mode() as fake, torch.no_grad():
        given = _fake_inputs(task)
        if isinstance(given, Finding):
            return given
        init_inputs = tree_map_only(torch.Tensor, fake.from_tensor, init_inputs)
        calls = Watch()
        traced = attempt(lambda: _trace(task, init_inputs, given, lambda: on(calls, task, ops)))
    if isinstance(traced, Finding):
        return _lazy(traced)
    graph, state_names, output = traced
    problem = _output_problem(output) or _reads_values(graph)
    if problem is not None:
        return problem
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    state, arguments = placeholders[: len(state_names)], placeholders[len(state_names) :]
    tensors = _tensors(output)
    leaves = [(i, leaf) for i, argument in enumerate(given) for leaf in tree_leaves(argument)]
    return DryRun(
        work=_work(graph, target),
        input_shapes=tuple(tuple(x.shape) for x in _tensors(given)),
        output_shapes=tuple(tuple(x.shape) for x in tensors),
        output_dtypes=tuple(str(x.dtype).removeprefix("torch.") for x in tensors),
        output_bytes=sum(map(_bytes, tensors)),
        terms=_terms(graph, target),
        draws=tuple(name for name in map(_name, _compute(graph)) if name.rstrip("_") in _GENERATORS),
        unused_arguments=tuple(
            i for node, (i, leaf) in zip(arguments, leaves, strict=True) if not node.users and isinstance(leaf, torch.Tensor)
        ),
        unused_state=tuple(name for name, node in zip(state_names, state, strict=True) if not node.users),
        calls=calls,
    )


def shape_coupled(task: Loaded, init_inputs: list, found: DryRun) -> bool:
    """Whether one more row of input changes more than the outputs' first axis, or cannot be run: such a task has one size.

    As dear as the dry run itself, and nobody who only fits sizes needs it. Scalars and outputs without the batch axis may stay.
    """
    with _fake_mode() as fake, torch.no_grad():
        given = _fake_inputs(task)
        if isinstance(given, Finding):
            return True
        init_inputs = tree_map_only(torch.Tensor, fake.from_tensor, init_inputs)
        larger = attempt(lambda: _one_row_more(task, init_inputs, given))
    return isinstance(larger, Finding) or list(map(_but_first, larger)) != list(map(_but_first, found.output_shapes))


def _but_first(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The number of axes, and their sizes but for the first."""
    return len(shape), *shape[1:]


def _fake_mode() -> FakeTensorMode:
    symbols = ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)
    # A list of numbers as an index becomes a real tensor inside torch; other real tensors are caught by their device.
    return FakeTensorMode(shape_env=symbols, allow_non_fake_inputs=True)


def _fake_inputs(task: Loaded) -> list | Finding:
    """The arguments of forward as fake tensors on the accelerator, asked for twice: their shapes must not vary."""
    drawn = [attempt(task.get_inputs), attempt(task.get_inputs)]
    for arguments in drawn:
        if isinstance(arguments, Finding):
            return (
                Finding(Reason.STRUCTURE, f"get_inputs: {arguments.message}") if arguments.reason is Reason.COMPILE else arguments
            )
        if not isinstance(arguments, list | tuple):
            return Finding(Reason.STRUCTURE, f"get_inputs returns {type(arguments).__name__}, not a list")
    first, second = ([(tuple(x.shape), x.dtype) for x in _tensors(list(arguments))] for arguments in drawn)
    if first != second:
        return Finding(Reason.STRUCTURE, f"get_inputs varies between calls: {first} and {second}")
    if not first:
        return Finding(Reason.STRUCTURE, "get_inputs returns no tensor")
    return _moved(list(drawn[0]))


def _lazy(finding: Finding) -> Finding:
    if "UninitializedParameter" in finding.message or "UninitializedBuffer" in finding.message:
        return Finding(Reason.INIT, "a lazy module has no weights before its first call: two instances cannot be matched")
    return finding


def _trace(
    task: Loaded, init_inputs: list, arguments: list, watched: Callable[[], AbstractContextManager]
) -> tuple[Graph, list[str], object] | Finding:
    """The ATen graph of forward, names of the state and fake output."""
    model, state = _model(task, init_inputs)
    remembers = remembered(task, model)
    outputs = []

    def forward(state: dict, arguments: list) -> list:
        with watched():
            outputs[:] = [torch.func.functional_call(model, state, tuple(arguments))]
        return _tensors(outputs[0])

    graph = make_fx(forward, tracing_mode="real", _allow_non_fake_inputs=True)(state, arguments).graph
    changed = difference(remembers, remembered(task, model))
    if changed:
        return Finding(Reason.STATEFUL, f"forward changes {changed}")
    return graph, list(state), outputs[0]


def _one_row_more(task: Loaded, init_inputs: list, arguments: list) -> list[tuple[int, ...]]:
    """The outputs' shapes when every input that shares the first one's leading size has one row more."""
    rows = _tensors(arguments)[0].shape[:1]

    def grown(x: torch.Tensor) -> torch.Tensor:
        return x.new_empty((x.shape[0] + 1, *x.shape[1:])) if x.shape[:1] == rows and x.dim() else x

    model, state = _model(task, init_inputs)
    output = torch.func.functional_call(model, state, tuple(tree_map_only(torch.Tensor, grown, arguments)))
    return [tuple(x.shape) for x in _tensors(output)]


def _model(task: Loaded, init_inputs: list) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    """The model in eval mode, and its parameters and buffers on the accelerator."""
    with patch.object(torch.nn.Module, "_apply", _apply_anew):
        model = task.model(*init_inputs).eval()
    return model, {name: _moved(tensor) for name, tensor in (*model.named_parameters(), *model.named_buffers())}


def _apply_anew(module: torch.nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> torch.nn.Module:
    """What self.to(torch.bfloat16) does, by new parameters: torch swaps fake ones in place, and they cannot be swapped."""
    for child in module.children() if recurse else ():
        _apply_anew(child, fn)
    for name, parameter in module._parameters.items():
        if parameter is not None:
            module._parameters[name] = torch.nn.Parameter(fn(parameter), parameter.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)
    return module


def _moved(value: object) -> object:
    """Fake tensors, nested too, on the accelerator."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=ACCELERATOR)

    return tree_map_only(torch.Tensor, move, value)


def _output_problem(output: object) -> Finding | None:
    """What a kernel could not reproduce about the output: its type, its device, a shape that depends on values."""
    parts = list(output) if type(output) in (tuple, list) else [output]
    if isinstance(output, tuple) and type(output) is not tuple:
        return Finding(Reason.OUTPUT_TYPE, f"returns a named tuple ({type(output).__name__})")
    for part in parts:
        if not isinstance(part, torch.Tensor):
            return Finding(Reason.OUTPUT_TYPE, f"returns {type(part).__name__} where a tensor is needed")
        if part.is_sparse or part.is_complex() or part.is_quantized:
            return Finding(Reason.OUTPUT_TYPE, f"returns a {part.layout if part.is_sparse else part.dtype} tensor")
        if any(not isinstance(size, int) for size in part.shape):
            return Finding(Reason.DYNAMIC_SHAPE, f"the output's shape {tuple(map(str, part.shape))} depends on values")
        if part.device.type != ACCELERATOR:
            return Finding(Reason.DEVICE, "the output stays on the CPU when model and inputs move")
        if part.numel() == 0:
            return Finding(Reason.CONSTANT_OUTPUT, f"returns a tensor without elements, of shape {tuple(part.shape)}")
    return None if parts else Finding(Reason.OUTPUT_TYPE, "returns no tensor")


def _reads_values(graph: Graph) -> Finding | None:
    """What torch.compile would stop at on the way: a number read out of a tensor, a size that depends on values."""
    for node in graph.nodes:
        if node.target is torch.ops.aten._local_scalar_dense.default:
            return Finding(Reason.COMPILE, "forward reads a number out of a tensor (.item())")
        if any(not isinstance(size, int) for tensor in _results(node) for size in tensor.shape):
            return Finding(Reason.DYNAMIC_SHAPE, f"{_name(node)} makes a tensor whose shape depends on values")
    return None


def _compute(graph: Graph) -> Iterator[Node]:
    """Nodes that launch work: ATen calls that are no views, tuple accesses or allocations."""
    for node in graph.nodes:
        if node.op != "call_function" or node.target is operator.getitem or not hasattr(node.target, "_schema"):
            continue
        view = node.target.is_view or _name(node) in ("_unsafe_view", "_reshape_alias", "detach")
        if not view and _name(node) not in _ALLOCATIONS:
            yield node


def _name(node: Node) -> str:
    return node.target._schema.name.split("::")[1]


def _tensors(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _results(node: Node) -> list[torch.Tensor]:
    return _tensors(node.meta.get("val"))


def _arguments(node: Node) -> list[torch.Tensor]:
    return [tensor for argument in node.all_input_nodes for tensor in _results(argument)]


def _bytes(tensor: torch.Tensor) -> int:
    """Bytes that reading the tensor touches: an expanded axis counts once."""
    sizes = [size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride != 0]
    return math.prod(int(size) for size in sizes) * tensor.element_size()


def _moved_bytes(node: Node) -> int:
    written = sum(map(_bytes, _results(node)))
    read = [_bytes(tensor) for tensor in _arguments(node)]
    if _name(node) in ("embedding", "index", "gather", "index_select", "take_along_dim"):
        # Reads as many elements of the table as it writes, not the whole table.
        read = [min(size, max(written, 1)) for size in read]
    return written + sum(read)


def _flops(node: Node) -> int:
    args, kwargs = (tree_map_only(Node, lambda n: n.meta.get("val"), part) for part in (node.args, node.kwargs))
    return matrix_flops(node.target, args, kwargs, node.meta.get("val"))


def _dtype(node: Node) -> str:
    found = [t.dtype for t in _arguments(node) if t.is_floating_point()]
    return str(found[0]).removeprefix("torch.") if found else "float32"


def _arithmetic_s(node: Node, target: Target) -> float:
    return _flops(node) / target.rate(_dtype(node))


def _terms(graph: Graph, target: Target) -> dict[str, float]:
    terms: dict[str, float] = {}
    for node in _compute(graph):
        seconds = max(_moved_bytes(node) / (target.bandwidth_gbs * 1e9), _arithmetic_s(node, target), target.overhead_us * 1e-6)
        terms[_name(node)] = terms.get(_name(node), 0.0) + 1e3 * seconds
    return terms


def _work(graph: Graph, target: Target) -> Work:
    compute = list(_compute(graph))
    flop_s = sum(_arithmetic_s(node, target) for node in compute)
    ends = [n for n in graph.nodes if n.op == "placeholder" and n.users] + list(graph.output_node().all_input_nodes)
    io_bytes = sum(_bytes(tensor) for node in ends for tensor in _results(node))
    peak = _peak_bytes(graph)
    predicted_ms = sum(ms * target.slower(name) for name, ms in _terms(graph, target).items())
    sol_ms = 1e3 * max(io_bytes / (target.bandwidth_gbs * 1e9), flop_s)
    return Work(
        bytes_moved=sum(map(_moved_bytes, compute)),
        io_bytes=io_bytes,
        flops=sum(map(_flops, compute)),
        peak_bytes=peak,
        predicted_ms=predicted_ms,
        sol_ms=sol_ms,
        fusion_headroom=predicted_ms / sol_ms if sol_ms else None,
        tier_gib=next((tier for tier in TIERS_GIB if peak <= tier * 2**30 * 0.95), None),
        operators=tuple(_name(node) for node in compute if not _changes_nothing(node)),
    )


def _changes_nothing(node: Node) -> bool:
    """Arithmetic of one tensor with the constant that leaves it as it is: x * 1.0, x + 0."""
    constant = _NEUTRAL.get(_name(node).rstrip("_"))
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
    alive = sum(_bytes(t) for n in graph.nodes if n.op == "placeholder" for t in _results(n))
    peak, ends = alive, {}
    for node in graph.nodes:
        if node.op == "call_function" and owner[node] is node:
            size = sum(map(_bytes, _results(node)))
            alive += size
            ends.setdefault(last.get(node, order[node]), []).append(size)
            peak = max(peak, alive)
        alive -= sum(ends.pop(order[node], []))
    return peak


def _allocates(node: Node) -> bool:
    if node.target is operator.getitem:
        return False
    return not (getattr(node.target, "is_view", False) or _name(node) in ("_unsafe_view", "_reshape_alias", "detach"))
