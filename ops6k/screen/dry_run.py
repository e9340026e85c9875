"""One forward without any memory: shapes, devices, bytes and FLOPs of a task before anything is allocated.

The module runs on fake tensors whose device is `meta`, standing for the accelerator: a tensor that stays on the CPU while
the model moves is found on a machine without an accelerator. Sizes that depend on data become symbols and are named as
such. The estimate of the run time sums over the operators max(bytes / bandwidth, FLOPs / rate, launch overhead).
Attention is counted unfused (as the meta device decomposes it), so its bytes are an upper bound.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._pytree import tree_leaves, tree_map_only

from ops6k.records import Reason, Work
from ops6k.screen.calls import Watch, on
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.load import Loaded, load_task
from ops6k.screen.state import difference, remembered
from ops6k.screen.work import bytes_of, compute_nodes, name_of, results, tensors_in, terms, work_of
from ops6k.target import Target

ACCELERATOR = "meta"

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
    graph: Graph
    """The ATen graph that all of this was counted on."""


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
    tensors = tensors_in(output)
    leaves = [(i, leaf) for i, argument in enumerate(given) for leaf in tree_leaves(argument)]
    return DryRun(
        work=work_of(graph, target),
        input_shapes=tuple(tuple(x.shape) for x in tensors_in(given)),
        output_shapes=tuple(tuple(x.shape) for x in tensors),
        output_dtypes=tuple(str(x.dtype).removeprefix("torch.") for x in tensors),
        output_bytes=sum(map(bytes_of, tensors)),
        terms=terms(graph, target),
        draws=tuple(name for name in map(name_of, compute_nodes(graph)) if name.rstrip("_") in _GENERATORS),
        unused_arguments=tuple(
            i for node, (i, leaf) in zip(arguments, leaves, strict=True) if not node.users and isinstance(leaf, torch.Tensor)
        ),
        unused_state=tuple(name for name, node in zip(state_names, state, strict=True) if not node.users),
        calls=calls,
        graph=graph,
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
    first, second = ([(tuple(x.shape), x.dtype) for x in tensors_in(list(arguments))] for arguments in drawn)
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
        return tensors_in(outputs[0])

    graph = make_fx(forward, tracing_mode="real", _allow_non_fake_inputs=True)(state, arguments).graph
    changed = difference(remembers, remembered(task, model))
    if changed:
        return Finding(Reason.STATEFUL, f"forward changes {changed}")
    return graph, list(state), outputs[0]


def _one_row_more(task: Loaded, init_inputs: list, arguments: list) -> list[tuple[int, ...]]:
    """The outputs' shapes when every input that shares the first one's leading size has one row more."""
    rows = tensors_in(arguments)[0].shape[:1]

    def grown(x: torch.Tensor) -> torch.Tensor:
        return x.new_empty((x.shape[0] + 1, *x.shape[1:])) if x.shape[:1] == rows and x.dim() else x

    model, state = _model(task, init_inputs)
    output = torch.func.functional_call(model, state, tuple(tree_map_only(torch.Tensor, grown, arguments)))
    return [tuple(x.shape) for x in tensors_in(output)]


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
        if any(not isinstance(size, int) for tensor in results(node) for size in tensor.shape):
            return Finding(Reason.DYNAMIC_SHAPE, f"{name_of(node)} makes a tensor whose shape depends on values")
    return None
