"""Canonical lines of a program: which parts are written, in which order, with expressions.py for what stands in them."""

import ast
from collections.abc import Iterable

from ops6k.dedup.expressions import Expressions
from ops6k.dedup.program import INPUT_FUNCTIONS, methods, model, self_attribute, self_name, walk


class Writer(Expressions):
    """Writes the model of one program, then the helpers that it names."""

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
