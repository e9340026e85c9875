"""A program written out as Python: the class that the measuring runs and that model_new.py holds, the same text for both.

The class derives from the task's Model, so that constructor, parameters and their names are inherited.
"""

import keyword
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch.fx import Graph, Node

LARGE = 2**18
"""Tensors of so many elements are let go after their last use: a function's names would keep them to its end."""
PREPARED = "prepared_"
"""How the names of buffers begin that hold what is computed once."""


class Written(Protocol):
    """A program, as far as its text depends on it."""

    graph: Graph
    arguments: tuple
    constants: dict[str, torch.Tensor]

    def inputs(self) -> list["Input"]: ...


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor among the arguments."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    device: str


def class_source(program: Written, decorator: str = "", does: str = "", channels_last: bool = False) -> str:
    """`class ModelNew(Model)`. decorator: put above what is to be compiled; does: its docstring."""
    parts = [
        "class ModelNew(Model):",
        *([_indented([f'"""{does}"""']), ""] if does else []),
        _set_up(channels_last),
        "",
        _indented(_prepare(program, channels_last)),
        "",
        _indented(_forward(program)),
        "",
        _indented([*([decorator] if decorator else []), *_rewritten(program, channels_last)]),
    ]
    return "\n".join(parts) + "\n"


def _set_up(channels_last: bool) -> str:
    lines = [
        "def __init__(self, *arguments, **named):",
        "    super().__init__(*arguments, **named)",
        "    self.set_up()",
        "",
        "def set_up(self):",
        *(["    self.to(memory_format=torch.channels_last)"] if channels_last else []),
        "    self.prepare()",
        "    self.register_load_state_dict_post_hook(ModelNew.prepare)",
    ]
    return _indented(lines)


def _prepare(program: Written, channels_last: bool) -> list[str]:
    """The method that computes, once, what depends on weights alone; buffers outside the state_dict, which move with the model."""
    nodes = prepared(program.graph, program.constants)
    lines = [_statement(node, program, nodes, inside=True) for node in program.graph.nodes if node in nodes]
    kept = [node for node in nodes if any(user not in nodes for user in node.users)]
    lines += [
        f'self.register_buffer("{_buffer(node)}", {_named(node)}{_laid_out(node, channels_last)}, persistent=False)'
        for node in kept
    ]
    if any("device" in line for line in lines):
        lines.insert(0, "device = next((x.device for x in [*self.parameters(), *self.buffers()]), torch.empty(0).device)")
    does = "What depends on weights alone: computed after construction and after each load_state_dict."
    head = ["@torch.no_grad()", "def prepare(self, incompatible=None):", f'    """{does}"""' if lines else "    pass"]
    return [*head, *("    " + line for line in lines)]


def _forward(program: Written) -> list[str]:
    names = ", ".join(_parameters(program.arguments))
    inputs = ", ".join(item.name for item in program.inputs())
    unpacked = [f"{_pattern(item)} = argument_{i}" for i, item in enumerate(program.arguments) if isinstance(item, list | tuple)]
    return [
        f"def forward(self, {names}):",
        *("    " + line for line in unpacked),
        f"    if {' or '.join(_differs(program))}:",
        f"        return super().forward({names})",
        f"    return self.rewritten({inputs})",
    ]


def _differs(program: Written) -> list[str]:
    """Conditions under which the graph does not stand for the model."""
    shapes = [f"{item.name}.shape != {item.shape} or {item.name}.dtype != {item.dtype}" for item in program.inputs()]
    fixed = [f"fixed_{i} != {literal(x)}" for i, x in enumerate(program.arguments) if not isinstance(x, Input | list | tuple)]
    return ["self.training", *shapes, *fixed]


def _parameters(arguments: Sequence) -> list[str]:
    return [
        item.name if isinstance(item, Input) else f"argument_{i}" if isinstance(item, list | tuple) else f"fixed_{i}"
        for i, item in enumerate(arguments)
    ]


def _pattern(item: object) -> str:
    """What a nested argument is unpacked into."""
    return item.name if isinstance(item, Input) else "[" + ", ".join(map(_pattern, item)) + "]"


def _rewritten(program: Written, channels_last: bool) -> list[str]:
    """The method that runs the graph."""
    nodes = prepared(program.graph, program.constants)
    run = [node for node in program.graph.nodes if node.op == "call_function" and node not in nodes]
    last = _last_uses(run, program.graph.output_node())
    lines = []
    for node in run:
        lines.append(_statement(node, program, nodes))
        done = [_named(other) for other in last.get(node, ()) if other in run and _is_large(other)]
        lines += [f"del {', '.join(done)}"] if done else []
    if any("device=device" in line for line in lines):
        lines.insert(0, f"device = {program.inputs()[0].name}.device")
    if channels_last:
        images = [item.name for item in program.inputs() if len(item.shape) == 4]
        lines = [f"{name} = {name}.contiguous(memory_format=torch.channels_last)" for name in images] + lines
    lines.append(f"return {_text(program.graph.output_node().args[0], program, nodes)}")
    inputs = ", ".join(item.name for item in program.inputs())
    return [f"def rewritten(self, {inputs}):", *("    " + line for line in lines)]


def prepared(graph: Graph, constants: Iterable[str]) -> dict[Node, None]:
    """The nodes that `prepare` computes, in order: those that hoist_invariants marked, and constants."""
    constants = set(constants)
    return {
        node: None for node in graph.nodes if node.meta.get("prepare") or (node.op == "get_attr" and node.target in constants)
    }


def _statement(node: Node, program: Written, nodes: dict[Node, None], inside: bool = False) -> str:
    if node.op == "get_attr":
        constant = program.constants[node.target]
        return f"{_named(node)} = torch.tensor({literal(constant.tolist())}, dtype={constant.dtype}, device=device)"
    arguments = [_text(value, program, nodes, inside) for value in node.args]
    if node.target is operator.getitem:
        return f"{_named(node)} = {arguments[0]}[{arguments[1]}]"
    arguments += [f"{name}={_text(value, program, nodes, inside)}" for name, value in node.kwargs.items()]
    return f"{_named(node)} = torch.ops.{node.target}({', '.join(arguments)})"


def _text(value: object, program: Written, nodes: dict[Node, None], inside: bool = False) -> str:
    """An argument as text, nodes as what holds them at that place."""

    def named(item: Node) -> str:
        if item in nodes:
            return _named(item) if inside else f"self.{_buffer(item)}"
        return attribute(item.target) if item.op == "get_attr" else _named(item)

    device = torch.device(program.inputs()[0].device) if program.inputs() else None
    return _nested(value, named, device)


def _nested(value: object, named: object, device: torch.device | None) -> str:
    if isinstance(value, Node):
        return named(value)
    if isinstance(value, torch.device):
        return "device" if device is None or value.type == device.type else f'torch.device("{value}")'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_nested(item, named, device)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(_nested(item, named, device) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return literal(value)


def literal(value: object) -> str:
    """A value as an expression that needs torch alone."""
    if isinstance(value, list | tuple):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, complex):
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if value is None or isinstance(value, bool | int | float | str | torch.dtype | torch.layout | torch.memory_format):
        return repr(value) if isinstance(value, str | float) else str(value)
    raise TypeError(f"{type(value).__name__} cannot be written out")


def attribute(path: str) -> str:
    """self.layers[0].weight as an expression, from its name in the state_dict."""
    text = "self"
    for part in path.split("."):
        # In a class __name is mangled, and what is no ASCII may be read as other letters.
        plain = part.isidentifier() and part.isascii() and not keyword.iskeyword(part) and not part.startswith("__")
        text = f"{text}.{part}" if plain else f"getattr({text}, {part!r})"
    return text


def _laid_out(node: Node, channels_last: bool) -> str:
    """What gives a prepared tensor the memory that a parameter of its kind has."""
    value = node.meta.get("val")
    images = channels_last and isinstance(value, torch.Tensor) and value.dim() == 4
    return ".contiguous(memory_format=torch.channels_last)" if images else ".contiguous()"


def _last_uses(run: list[Node], output: Node) -> dict[Node, list[Node]]:
    """By node, what no later one uses."""
    last: dict[Node, Node] = {}
    for node in [*run, output]:
        last |= dict.fromkeys(node.all_input_nodes, node)
    found: dict[Node, list[Node]] = {}
    for node, user in last.items():
        found.setdefault(user, []).append(node)
    return found


def _is_large(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.numel() >= LARGE


def _buffer(node: Node) -> str:
    return f"{PREPARED}{node.name}"


def _named(node: Node) -> str:
    """What holds a node inside a method. Not the name of a method of every module: to whoever reads, the class would seem to give it
    another meaning."""
    return f"named_{node.name}" if hasattr(torch.nn.Module, node.name) else node.name


def _indented(lines: list[str]) -> str:
    return "\n".join("    " + line if line else "" for line in lines)
