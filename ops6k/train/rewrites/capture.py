"""From a model to its graph: torch.export without decompositions, in-place operators made ordinary ones."""

import re
import warnings
from collections.abc import Callable, Sequence

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind
from torch.fx import Graph, Node

from ops6k.screen.finding import Finding, attempt
from ops6k.train.rewrites.functional import clean, functionalise, is_functional
from ops6k.train.rewrites.program import Program
from ops6k.train.rewrites.source import PREPARED, Input, class_source

MOST_CONSTANT = 4096
"""Elements of a constant that can be written out."""
_OWN = frozenset(["set_up", "prepare", "rewritten"])
"""Names that the written class has of its own."""
_RESERVED = re.compile(r"self|torch|device|ModelNew|(?:argument|fixed)_\d+|named_.*")
"""Names that mean something else in what is written."""


class NotCapturable(Exception):
    """A model whose forward is not one graph that can be written out: no rewrite applies to it."""


def capture(model: torch.nn.Module, inputs: Sequence[object]) -> Program:
    """The graph of a model in eval mode, for inputs of these shapes. Raises NotCapturable, and nothing else for what a model does."""
    if model.training:
        raise NotCapturable("the model is in training mode")
    taken = [name for name in dir(model) if name in _OWN or name.startswith(PREPARED)]
    if taken:
        raise NotCapturable(f"the model has {taken[0]} of its own")
    exported = _exported(model, inputs)
    lifted = _lifted(exported)
    names = _names_of(exported, lifted)
    arguments = _arguments(exported, inputs, names)
    constants = {name: value for name, value in exported.constants.items() if _is_lifted(name, model)}
    program = Program(lifted, arguments, {name: value.detach() for name, value in constants.items()})
    clean(program.graph)
    _refuse(program)
    return program


def _exported(model: torch.nn.Module, inputs: Sequence[object]) -> ExportedProgram:
    exported = _given(lambda: torch.export.export(model, tuple(inputs), strict=False))
    functionalise(exported.graph)
    return exported if is_functional(exported.graph) else _given(lambda: exported.run_decompositions({}))


def _given(export: Callable[[], ExportedProgram]) -> ExportedProgram:
    """What the exporter gives; it runs the model's forward, which may raise anything."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        found = attempt(export, watched=False)
    if isinstance(found, Finding):
        raise NotCapturable(found.message)
    return found


def _lifted(exported: ExportedProgram) -> Graph:
    """The graph with parameters, buffers and constants as get_attr nodes and the model's own structure at its end."""
    signature = exported.graph_signature
    if any(spec.kind != OutputKind.USER_OUTPUT for spec in signature.output_specs):
        raise NotCapturable("the forward changes its inputs or its state")
    specs = {spec.arg.name: spec for spec in signature.input_specs}
    graph, copies = Graph(), {}
    for node in exported.graph.nodes:
        if node.op == "output":
            leaves = [copies[item] if isinstance(item, Node) else item for item in node.args[0]]
            graph.output(_structure(torch.utils._pytree.tree_unflatten(leaves, exported.call_spec.out_spec)))
        elif node.op == "placeholder":
            copies[node] = _leaf(graph, node, specs[node.name])
        else:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    return graph


def _leaf(graph: Graph, node: Node, spec: InputSpec) -> Node:
    if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
        # Not graph.get_attr: that warns where no module owns the graph.
        leaf = graph.create_node("get_attr", spec.target, name=spec.target.replace(".", "_"))
    elif spec.kind == InputKind.USER_INPUT:
        taken = _RESERVED.fullmatch(node.name) or hasattr(torch.nn.Module, node.name)
        leaf = graph.placeholder(f"{node.name}_" if taken else node.name)
    else:
        raise NotCapturable(f"an input of the kind {spec.kind.name}")
    leaf.meta = dict(node.meta)
    return leaf


def _structure(value: object) -> object:
    """Outputs as tensors in tuples, lists and dictionaries; nothing else can be written out."""
    if isinstance(value, Node):
        return value
    if type(value) in (tuple, list):
        return type(value)(map(_structure, value))
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {key: _structure(item) for key, item in value.items()}
    raise NotCapturable(f"returns a {type(value).__name__}")


def _names_of(exported: ExportedProgram, graph: Graph) -> list[str | None]:
    """Names of the placeholders in the order of the inputs' leaves, None for what is no tensor."""
    specs = [spec for spec in exported.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
    nodes = iter([node for node in graph.nodes if node.op == "placeholder"])
    names = []
    for spec in specs:
        node = next(nodes)
        names.append(None if isinstance(spec.arg, ConstantArgument) else node.name)
        if names[-1] is None:
            if node.users:
                raise NotCapturable(f"the number {node.name} is part of the graph")
            graph.erase_node(node)
    return names


def _arguments(exported: ExportedProgram, inputs: Sequence[object], names: list[str | None]) -> tuple:
    leaves, spec = torch.utils._pytree.tree_flatten(list(inputs))
    if len(leaves) != len(names):
        raise NotCapturable(f"{len(leaves)} inputs, {len(names)} in the graph")
    named = [_input(name, leaf) if name else leaf for leaf, name in zip(leaves, names, strict=True)]
    arguments = tuple(torch.utils._pytree.tree_unflatten(named, spec))
    if not all(_is_writable(item) for item in arguments) or not any(isinstance(item, Input) for item in named):
        raise NotCapturable("inputs that are neither tensors, numbers nor lists of tensors")
    return arguments


def _input(name: str, tensor: torch.Tensor) -> Input:
    return Input(name, tuple(tensor.shape), tensor.dtype, str(tensor.device))


def _is_writable(item: object) -> bool:
    if isinstance(item, list | tuple):
        return all(isinstance(x, Input) or (isinstance(x, list | tuple) and _is_writable(x)) for x in item)
    return isinstance(item, Input) or item is None or type(item) in (bool, int, float, str)


def _is_lifted(name: str, model: torch.nn.Module) -> bool:
    """A constant made in the forward, not an attribute of the model."""
    holder: object = model
    for part in name.split("."):
        if not hasattr(holder, part):
            return True
        holder = getattr(holder, part)
    return not isinstance(holder, torch.Tensor)


def _refuse(program: Program) -> None:
    """Raises NotCapturable for what cannot be written out or moved about safely."""
    for name, constant in program.constants.items():
        if constant.numel() > MOST_CONSTANT:
            raise NotCapturable(f"the constant {name} has {constant.numel()} elements")
    for node in program.graph.nodes:
        if any(
            isinstance(size, torch.SymInt)
            for leaf in torch.utils._pytree.tree_leaves(node.meta.get("val"))
            for size in _sizes(leaf)
        ):
            raise NotCapturable(f"the shape of {node.name} depends on data")
        if node.op == "call_function" and not _can_be_written(node):
            raise NotCapturable(f"calls {node.target}")
    if not is_functional(program.graph):
        raise NotCapturable("in-place operators remain")
    try:
        class_source(program)
    except TypeError as error:
        raise NotCapturable(str(error)) from error


def _sizes(leaf: object) -> Sequence[object]:
    return leaf.shape if isinstance(leaf, torch.Tensor) else [leaf]


def _can_be_written(node: Node) -> bool:
    if node.target.__name__ == "getitem":
        return True
    strided = ("aten::as_strided", "aten::set_", "aten::_local_scalar_dense")
    return isinstance(node.target, torch._ops.OpOverload) and node.target.name().split(".")[0] not in strided
