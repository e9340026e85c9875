"""Canonical tokens of expressions: names, numbers, operators and calls. The statements around them: writer.py."""

import ast
import builtins
import re
from collections.abc import Callable, Iterable

from ops6k.dedup.names import operator_key
from ops6k.dedup.program import Program, equation, self_attribute
from ops6k.labels import OPERATORS, key

_BUILTINS = frozenset(dir(builtins))
_MODULE_API = frozenset(
    """training register_buffer register_parameter register_module add_module parameters named_parameters modules named_modules children
    buffers apply to eval train state_dict load_state_dict requires_grad_ half float double bfloat16""".split()
)
_NAMING_CALLS = frozenset("registerbuffer registerparameter registermodule addmodule setattr getattr hasattr".split())
_WORD = re.compile(r"[a-z][a-z0-9_]{0,23}")
_MOST_INLINED = 200
"""Constants made of constants could otherwise double with every line."""
_SAME_KEYWORD = {"axis": "dim", "axes": "dim", "keepdims": "keepdim"}


class Expressions:
    """Appends the tokens of expressions to a line; helpers are queued where they are first named, so unused ones never appear."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.numbers: list[float] = []
        self.words: list[str] = []
        self.line: list[str] = []
        self.definitions: dict[str, str] = {}
        self.queue: list[str] = []
        self.local: dict[str, str | None] = {}
        self.members: dict[str, str] = {}
        self.self_: str | None = None
        self.open_constants: list[str] = []
        self.inlined = 0

    def definition(self, name: str) -> str:
        if name not in self.definitions:
            self.definitions[name] = f"d{len(self.definitions)}"
            self.queue.append(name)
        return self.definitions[name]

    def end_line(self) -> None:
        if self.line:
            self.lines.append(" ".join(self.line))
            self.line = []

    def visit(self, node: ast.AST) -> None:
        handler: Callable[[ast.AST], None] = getattr(self, f"_{type(node).__name__}", self.other)
        handler(node)

    def items(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)
            self.line.append(",")

    def other(self, node: ast.AST) -> None:
        """Any node without a rule of its own."""
        raise NotImplementedError

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
            self.line.append(operator_key(path))
        elif self.number(node):
            pass
        elif node.id in program.constants and node.id not in self.open_constants and self.inlined < _MOST_INLINED:
            self.inlined += 1
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
            self.words.append(node.value)
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
            self.line.append(operator_key(path))
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
            self.operator_call(operator_key(path, node.args, node.keywords), node.args, node.keywords)
        elif isinstance(function, ast.Attribute) and self.is_method_of_a_value(function):
            self.operator_call(operator_key(function.attr), [function.value, *node.args], node.keywords)
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
