"""A task's source taken apart: imports, classes, functions and module constants. Nothing is executed.

Shared by the canonical form (canonical.py) and the source dataflow (flow.py).
"""

import ast
import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import xxhash

INPUT_FUNCTIONS = ("get_init_inputs", "get_inputs")
"""Describe inputs, not the model: never compared, only read for their sizes."""

# What a task without its import lines still means.
_USUAL_IMPORTS = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "math": "math"}

_FOLDS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LARGEST_POWER = 64


@dataclass(frozen=True, slots=True)
class Program:
    imports: dict[str, str]
    """Local name to dotted path: nn to torch.nn."""
    classes: dict[str, ast.ClassDef]
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]
    constants: dict[str, ast.expr]
    """Module-level names that are assigned once or more; the last assignment counts, as at run time."""
    numbers: dict[str, float]
    """Those of them that are numbers."""
    attributes: frozenset[str]
    """Names that some class sets on self, or defines as a method."""

    def dotted(self, node: ast.expr, local: Iterable[str] = ()) -> str | None:
        """`torch.nn.functional.relu` for F.relu; None where the root is no import or a local name hides it."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports or node.id in local:
            return None
        return ".".join([self.imports[node.id], *reversed(parts)])

    def number(self, node: ast.expr, local: Iterable[str] = ()) -> float | None:
        """The value of a numeric literal, of arithmetic on literals, or of a module constant that is one."""
        if isinstance(node, ast.Constant):
            return _plain_number(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self.number(node.operand, local)
            return -value if value is not None and isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp) and type(node.op) in _FOLDS:
            return _fold(node.op, self.number(node.left, local), self.number(node.right, local))
        if isinstance(node, ast.Name) and node.id not in local:
            return self.numbers.get(node.id)
        return None


_NO_NODES = frozenset("ctx op ops id attr asname module level kind type_comment conversion simple is_async".split())
"""Fields of Python's syntax that hold strings, numbers, contexts or operators."""


def parse(code: str) -> Program | None:
    """The parts of a program; None where it is no Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    program = Program(dict(_USUAL_IMPORTS), {}, {}, {}, {}, _attributes(tree))
    for statement in tree.body:
        _file(statement, program)
    return program


@cache
def _fields_with_nodes(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields that may hold what `walk` visits: half of all never do."""
    if kind is ast.Constant:
        return ()
    return tuple(name for name in kind._fields if name not in _NO_NODES)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """As ast.walk, but in source order, and without contexts and operators: twice as fast."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        parts = []
        for name in _fields_with_nodes(type(node)):
            value = getattr(node, name, None)
            if isinstance(value, list):
                parts += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                parts.append(value)
        stack += reversed(parts)


def model(program: Program) -> str | None:
    """The class to start from: Model, else the last class; None where there is no class."""
    return "Model" if "Model" in program.classes else next(reversed(program.classes), None)


def is_task(code: str) -> bool:
    """Whether it is Python with a class to start from."""
    program = parse(code)
    return program is not None and model(program) is not None


def methods(cls: ast.ClassDef) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    return {part.name: part for part in cls.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}


def self_name(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The first argument's name, whatever it is called."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else None


def self_attribute(node: ast.AST, self_: str | None) -> str | None:
    """`fc` for self.fc; None for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self_:
        return node.attr
    return None


def equation(text: str, letters: bool) -> str:
    """An einsum (letters) or einops (words) equation with its axes renamed in order of appearance."""
    seen: dict[str, str] = {}
    pattern = r"[A-Za-z]" if letters else r"[A-Za-z_]\w*"
    return re.sub(pattern, lambda found: seen.setdefault(found[0], f"i{len(seen)}"), text.replace(" ", "") if letters else text)


def digest(text: str) -> str:
    """16 hex digits of a text (xxhash, 64 bit): for equality among millions, not against forgery."""
    return xxhash.xxh64_hexdigest(text.encode("utf-8", "replace"))


def _plain_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _fold(op: ast.operator, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (isinstance(op, ast.Pow) and abs(right) > _LARGEST_POWER):
        return None
    try:
        value = _FOLDS[type(op)](left, right)
    except (ZeroDivisionError, OverflowError):
        return None
    return value if isinstance(value, float) else None


def _attributes(tree: ast.Module) -> frozenset[str]:
    found = {node.attr for node in walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    for part in tree.body:
        if isinstance(part, ast.ClassDef):
            found.update(methods(part))
    return frozenset(found)


def _file(statement: ast.stmt, program: Program) -> None:
    """Puts one module-level statement where it belongs; later definitions hide earlier ones."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            program.imports[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else alias.name.split(".")[0]
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            program.imports[alias.asname or alias.name] = f"{statement.module or ''}.{alias.name}"
    elif isinstance(statement, ast.ClassDef):
        program.classes.pop(statement.name, None)
        program.classes[statement.name] = statement
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        program.functions[statement.name] = statement
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            _constant(target, statement.value, program)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        _constant(statement.target, statement.value, program)


def _constant(target: ast.expr, value: ast.expr, program: Program) -> None:
    if isinstance(target, ast.Name):
        program.constants[target.id] = value
        # As at run time: what a name stood for before may count in its new value.
        number = program.number(value)
        program.numbers.pop(target.id, None)
        if number is not None:
            program.numbers[target.id] = number
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for part, element in zip(target.elts, value.elts, strict=True):
            _constant(part, element, program)
