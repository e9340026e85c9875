"""The canonical form of a task: what is left of its model once names, sizes, spelling and layout no longer count.

Taken out: docstrings, comments, annotations, arguments of super(), asserts, the input functions, unused helpers. Unified:
imports, names (numbered in order of appearance, forward first), numbers (N), operator spellings (ops6k.labels.key:
nn.ReLU, F.relu, torch.relu and x.relu() are one, as are x + y and torch.add(x, y)), module constants (their value), the
order of __init__ and of methods. Operator names stay.
Pure: nothing is executed.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash

from ops6k.dedup import flow
from ops6k.dedup.program import INPUT_FUNCTIONS, Program, digest, equation, methods, model, parse, self_attribute, self_name, walk
from ops6k.labels import OPERATORS, key

SHINGLE_TOKENS = 5

_BUILTINS = frozenset(dir(builtins))
_MODULE_API = frozenset(
    """training register_buffer register_parameter register_module add_module parameters named_parameters modules named_modules children
    buffers apply to eval train state_dict load_state_dict requires_grad_ half float double bfloat16""".split()
)
_NAMING_CALLS = frozenset("registerbuffer registerparameter registermodule addmodule setattr getattr hasattr".split())
_WORD = re.compile(r"[a-z][a-z0-9_]{0,23}")
_SAME_KEYWORD = {"axis": "dim", "axes": "dim", "keepdims": "keepdim"}


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    text: str
    """One statement a line, for people and for diffs."""
    digest: str
    """16 hex digits of the text."""
    shingles: np.ndarray
    """xxhash (32 bit) of every 5 tokens in a row: sorted, distinct, uint32."""
    numbers: tuple[float, ...]
    """The numbers that became N, in canonical order, then those of get_init_inputs and get_inputs."""
    operators: tuple[str, ...]
    """Operator keys in dataflow order, as far as the source shows them."""
    flow: str | None
    """Digest of the source's dataflow graph; None where the source hides it."""


def canonical(code: str) -> Canonical | None:
    """The canonical form of a task's model; None where the code is no Python (or is nested beyond Python's stack)."""
    program = parse(code)
    if program is None:
        return None
    try:
        writer = _Writer(program)
        writer.write_model()
        text = "\n".join(writer.lines)
        numbers = writer.numbers + _input_numbers(program)
        graph = flow.trace(program)
    except RecursionError:
        return None
    return Canonical(text, digest(text), shingles(text.split()), tuple(numbers), graph.operators, graph.digest)


def shingles(tokens: list[str]) -> np.ndarray:
    """Hashes of every five tokens in a row, sorted and distinct; one hash where there are fewer."""
    count = max(len(tokens) - SHINGLE_TOKENS + 1, 1)
    hashes = (xxhash.xxh32_intdigest(" ".join(tokens[i : i + SHINGLE_TOKENS]).encode("utf-8", "replace")) for i in range(count))
    return np.unique(np.fromiter(hashes, np.uint32, count))


def jaccard(left: np.ndarray, right: np.ndarray) -> float:
    """Exact Jaccard similarity of two sorted, distinct arrays; two empty ones are not alike."""
    return float(jaccards(left, [right])[0])


def jaccards(one: np.ndarray, others: Sequence[np.ndarray]) -> np.ndarray:
    """Exact Jaccard similarity of one sorted, distinct array with each of others, (N,) float64."""
    sizes = np.array([other.size for other in others])
    values = np.concatenate(others)
    at = np.minimum(np.searchsorted(one, values), max(one.size - 1, 0))
    present = one[at] == values if one.size else np.zeros(values.size, bool)
    common = np.bincount(np.repeat(np.arange(len(others)), sizes), present, len(others))
    return common / np.maximum(one.size + sizes - common, 1)


def _input_numbers(program: Program) -> list[float]:
    writer = _Writer(program)
    for name in INPUT_FUNCTIONS:
        if name in program.functions:
            writer.function(program.functions[name], method_of=None)
    return writer.numbers


class _Writer:
    """Writes tokens of one program; a helper is queued where it is first named, so unused ones never appear."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.numbers: list[float] = []
        self.line: list[str] = []
        self.definitions: dict[str, str] = {}
        self.queue: list[str] = []
        self.local: dict[str, str | None] = {}
        self.members: dict[str, str] = {}
        self.self_: str | None = None
        self.open_constants: list[str] = []

    def write_model(self) -> None:
        start = model(self.program)
        for name in [start] if start else [f for f in self.program.functions if f not in INPUT_FUNCTIONS]:
            self.definition(name)
        while self.queue:
            name = self.queue.pop(0)
            if name in self.program.classes:
                self.class_(self.program.classes[name])
            else:
                self.function(self.program.functions[name], method_of=None)

    def definition(self, name: str) -> str:
        if name not in self.definitions:
            self.definitions[name] = f"d{len(self.definitions)}"
            self.queue.append(name)
        return self.definitions[name]

    def end_line(self) -> None:
        if self.line:
            self.lines.append(" ".join(self.line))
            self.line = []

    def class_(self, cls: ast.ClassDef) -> None:
        self.members = {}
        self.line = ["class"]
        self.local = {}
        self.items(cls.bases)
        self.end_line()
        own = methods(cls)
        # Forward first: its order of use numbers the members, whatever the order of __init__.
        first = [own[name] for name in ("forward", "__init__") if name in own]
        for method in first:
            self.function(method, method_of=cls)
        self.body([part for part in cls.body if part not in own.values()])
        rest = [method for name, method in own.items() if method not in first]
        for method in sorted(rest, key=lambda m: self.order(m.name)):
            self.function(method, method_of=cls)

    def order(self, name: str) -> int:
        """Place of a member by first use; unused ones last, in the order written."""
        return int(self.members[name][1:]) if name in self.members else len(self.members) + 1

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, method_of: ast.ClassDef | None) -> None:
        self.local = dict.fromkeys(_local_names(node))
        self.self_ = self_name(node) if method_of else None
        if self.self_:
            self.local[self.self_] = "self"
        self.line.append("def")
        if method_of:
            self.line.append(node.name if node.name.startswith("__") or node.name == "forward" else self.member(node.name))
        self.arguments(node.args)
        self.end_line()
        self.body(self.in_order(node.body) if node.name == "__init__" else node.body)

    def arguments(self, node: ast.arguments) -> None:
        for argument in [*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs, node.kwarg]:
            if argument is not None:
                self.line.append(self.name(argument.arg))
        self.items([default for default in [*node.defaults, *node.kw_defaults] if default is not None])

    def in_order(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of __init__, runs of `self.x = ...` sorted by first use in forward."""
        ordered: list[ast.stmt] = []
        run: list[tuple[int, ast.stmt]] = []
        for statement in body:
            name = self_attribute(_target(statement), self.self_)
            if name is not None:
                run.append((self.order(name), statement))
                continue
            ordered += [part for _, part in sorted(run, key=lambda pair: pair[0])]
            ordered.append(statement)
            run = []
        return ordered + [part for _, part in sorted(run, key=lambda pair: pair[0])]

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if not _says_nothing(statement):
                self.visit(statement)
                self.end_line()

    def visit(self, node: ast.AST) -> None:
        handler: Callable[[ast.AST], None] = getattr(self, f"_{type(node).__name__}", self.other)
        handler(node)

    def other(self, node: ast.AST) -> None:
        """Any node without a rule: its kind, its expressions, then its blocks."""
        self.line.append(type(node).__name__.lower())
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.end_line()
                self.body(value)
                self.line.append("end")
            elif isinstance(value, list):
                self.items([part for part in value if isinstance(part, ast.AST)])
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                self.visit(value)

    def items(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)
            self.line.append(",")

    # Statements

    def _Expr(self, node: ast.Expr) -> None:
        self.visit(node.value)

    def _Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self.visit(target)
            self.line.append("=")
        self.visit(node.value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._Assign(ast.Assign([node.target], node.value))

    def _AugAssign(self, node: ast.AugAssign) -> None:
        self._Assign(ast.Assign([node.target], ast.BinOp(node.target, node.op, node.value)))

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        self.line += ["def", self.name(node.name)]
        self.arguments(node.args)
        self.end_line()
        self.body(node.body)

    # Expressions

    def name(self, name: str) -> str:
        """A local name as v0, v1, ... in order of appearance in its function."""
        if self.local.get(name) is None:
            self.local[name] = f"v{sum(value is not None for value in self.local.values())}"
        return self.local[name]

    def member(self, name: str) -> str:
        return self.members.setdefault(name, f"a{len(self.members)}")

    def _Name(self, node: ast.Name) -> None:
        program = self.program
        if node.id in self.local:
            self.line.append(self.name(node.id))
        elif node.id in program.classes or node.id in program.functions:
            self.line.append(self.definition(node.id))
        elif path := program.dotted(node):
            self.line.append(key(path))
        elif self.number(node):
            pass
        elif node.id in program.constants and node.id not in self.open_constants:
            self.open_constants.append(node.id)
            self.visit(program.constants[node.id])
            self.open_constants.pop()
        else:
            self.line.append(node.id if node.id in _BUILTINS else "g")

    def number(self, node: ast.expr) -> bool:
        value = self.program.number(node, self.local)
        if value is not None:
            self.numbers.append(value)
            self.line.append("N")
        return value is not None

    def _Constant(self, node: ast.Constant) -> None:
        if self.number(node):
            return
        if isinstance(node.value, str):
            self.line.append(f"'{node.value}'" if _WORD.fullmatch(node.value) else "S")
        else:
            self.line.append(
                "N"
                if isinstance(node.value, int | complex) and not isinstance(node.value, bool)
                else type(node.value).__name__ + str(node.value is True)
            )

    def _JoinedStr(self, node: ast.JoinedStr) -> None:
        self.line.append("S")

    def _Attribute(self, node: ast.Attribute) -> None:
        if path := self.program.dotted(node, self.local):
            self.line.append(key(path))
            return
        self.visit(node.value)
        self.line += [".", self.attribute(node)]

    def attribute(self, node: ast.Attribute) -> str:
        if self_attribute(node, self.self_) is not None:
            return node.attr if node.attr in _MODULE_API or node.attr.startswith("__") else self.member(node.attr)
        return "a" if node.attr in self.program.attributes and not node.attr.startswith("__") else node.attr

    def _UnaryOp(self, node: ast.UnaryOp) -> None:
        if not self.number(node):
            self.call(OPERATORS.get(type(node.op).__name__, "not"), [node.operand])

    def _BinOp(self, node: ast.BinOp) -> None:
        if not self.number(node):
            self.call(OPERATORS[type(node.op).__name__], [node.left, node.right])

    def _Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and type(node.ops[0]).__name__ in OPERATORS:
            self.call(OPERATORS[type(node.ops[0]).__name__], [node.left, node.comparators[0]])
        else:
            self.other(node)

    def _Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        self.line.append("[")
        self.visit(node.slice)
        self.line.append("]")

    def call(self, name: str, arguments: Iterable[ast.AST], keywords: Iterable[ast.keyword] = ()) -> None:
        self.line += [name, "("]
        self.items(arguments)
        self.items(keywords)
        self.line.append(")")

    def _keyword(self, node: ast.keyword) -> None:
        name = node.arg or "**"
        self.line += [_SAME_KEYWORD.get(name, name), "="]
        self.visit(node.value)

    def _Call(self, node: ast.Call) -> None:
        function = node.func
        path = self.program.dotted(function, self.local)
        own = isinstance(function, ast.Name) and (function.id in self.program.classes or function.id in self.program.functions)
        if isinstance(function, ast.Name) and function.id == "super":
            self.call("super", [])
        elif path and not own:
            self.operator_call(key(path), node.args, node.keywords)
        elif isinstance(function, ast.Attribute) and self.is_method_of_a_value(function):
            self.operator_call(key(function.attr), [function.value, *node.args], node.keywords)
        else:
            self.visit(function)
            naming = isinstance(function, ast.Attribute) and key(function.attr) in _NAMING_CALLS
            # Keywords of the task's own helpers are names like any other.
            self.call("", node.args[naming:], [ast.keyword("k", k.value) for k in node.keywords])

    def operator_call(self, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> None:
        if (
            arguments
            and isinstance(arguments[0], ast.Constant)
            and isinstance(arguments[0].value, str)
            and name in ("einsum", "rearrange", "reduce")
        ):
            self.line.append(equation(arguments[0].value, letters=name == "einsum").replace(" ", "_"))
            arguments = arguments[1:]
        self.call(name, arguments, keywords)

    def is_method_of_a_value(self, function: ast.Attribute) -> bool:
        """x.relu() and not self.fc(x), block.conv(x) or super().forward(x)."""
        if (
            self_attribute(function, self.self_) is not None
            or function.attr in self.program.attributes
            or function.attr.startswith("__")
        ):
            return False
        value = function.value
        return not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super")


def _local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterable[str]:
    for node in walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node is not function:
            yield node.name


def _target(statement: ast.stmt) -> ast.AST:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0]
    return statement.target if isinstance(statement, ast.AnnAssign) else statement


def _says_nothing(statement: ast.stmt) -> bool:
    """Docstrings, pass, asserts, imports, declarations without a value."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    bare = isinstance(statement, ast.AnnAssign) and statement.value is None
    return bare or isinstance(statement, ast.Pass | ast.Assert | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal)
