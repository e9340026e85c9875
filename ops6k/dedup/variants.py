"""Copies of a task in disguise: what the checks must find. Made from its syntax tree, independently of the canonical form.

For tests and for `ops6k dedup --self-test BENCHMARK_FOLDER`. The source must be Python.
"""

import ast
import builtins
from collections.abc import Callable

_CONTRACT = frozenset({"Model", "forward", "get_inputs", "get_init_inputs", "self", "super"})


def verbatim(code: str) -> str:
    return code


def stripped(code: str) -> str:
    """Without comments, docstrings, annotations and arguments of super()."""
    return ast.unparse(ast.fix_missing_locations(_Strip().visit(ast.parse(code))))


def renamed(code: str) -> str:
    """Every class, function, variable, argument and attribute that is the task's own has another name."""
    tree = ast.parse(code)
    return ast.unparse(_Rename(tree).visit(tree))


def resized(code: str) -> str:
    """Every number but 0 and 1 is another one. The copy need not run: only its source is compared."""
    return ast.unparse(_Resize().visit(ast.parse(code)))


def disguised(code: str) -> str:
    """All of these at once."""
    return resized(renamed(stripped(code)))


SURE: dict[str, Callable[[str], str]] = {
    "verbatim": verbatim,
    "stripped": stripped,
    "renamed": renamed,
    "resized": resized,
    "disguised": disguised,
}
"""Disguises of which every copy must be found."""


class _Strip(ast.NodeTransformer):
    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return self._without_docstring(node)

    def visit_Module(self, node: ast.Module) -> ast.Module:
        return self._without_docstring(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        return self._without_docstring(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign | None:
        return ast.Assign([node.target], self.visit(node.value)) if node.value else None

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = []
        return node

    def _without_docstring(self, node: ast.ClassDef | ast.FunctionDef | ast.Module) -> ast.AST:
        self.generic_visit(node)
        node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
        return node


class _Rename(ast.NodeTransformer):
    def __init__(self, tree: ast.Module) -> None:
        self.attributes = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        self.attributes |= {
            m.name for n in tree.body if isinstance(n, ast.ClassDef) for m in n.body if isinstance(m, ast.FunctionDef)
        }
        self.imported = {
            a.asname or a.name.split(".")[0]
            for n in ast.walk(tree)
            if isinstance(n, ast.Import | ast.ImportFrom)
            for a in n.names
        }
        own = sorted((_defined(tree) | self.attributes) - _CONTRACT - self.imported - set(dir(builtins)))
        self.names = {name: f"other_{name[::-1]}_{i}" for i, name in enumerate(own) if not name.startswith("__")}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        self.generic_visit(node)
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        of_library = isinstance(node.value, ast.Name) and node.value.id in self.imported
        if node.attr in self.attributes and not of_library:
            node.attr = self.names.get(node.attr, node.attr)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        function = node.func
        own = isinstance(function, ast.Name) and function.id in self.names.values()
        if own or (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"):
            for keyword in node.keywords:
                keyword.arg = self.names.get(keyword.arg, keyword.arg)
        return node


class _Resize(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, float):
            return ast.Constant(1.5 * node.value + 0.25)
        is_size = isinstance(node.value, int) and not isinstance(node.value, bool) and node.value > 1
        return ast.Constant(3 * node.value + 1) if is_size else node


def _defined(tree: ast.Module) -> set[str]:
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    arguments = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return stored | arguments | {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
