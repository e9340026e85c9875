"""The signatures that a kernel must keep, read off a task's source; nothing is executed."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ops6k.errors import Ops6kError
from ops6k.records import Task
from ops6k.tables import syntax_error


@dataclass(frozen=True, slots=True)
class Signatures:
    """Of the class Model. Annotations are left out: they may name what a kernel's file does not have."""

    init: str
    """Its parameters as source: `self, width, bias=True`."""
    forward: str
    needed: tuple[str, ...]
    """Statements of the task that defaults refer to: imports and constants, in their order."""


def signatures(task: Task) -> Signatures:
    """Raises Ops6kError where the code has no class Model with a forward."""
    if wrong := syntax_error(task.code):
        raise Ops6kError(f"task {task.task_id}: the code is no Python: {wrong}")
    tree = ast.parse(task.code)
    init, forward = (_parameters(tree.body, "Model", name) for name in ("__init__", "forward"))
    if forward is None:
        raise Ops6kError(f"task {task.task_id}: the code has no class Model with a forward")
    defaults = [value for part in (init, forward) if part for value in (*part.defaults, *part.kw_defaults) if value]
    names = {name for value in defaults for name in _names(value)}
    return Signatures(ast.unparse(init) if init else "self", ast.unparse(forward), tuple(_needed(tree, names)))


def _parameters(body: Sequence[ast.stmt], class_name: str, method: str) -> ast.arguments | None:
    """Without annotations; those of a base class that stands above it where the class has none of its own."""
    places = [i for i, node in enumerate(body) if isinstance(node, ast.ClassDef) and node.name == class_name]
    if not places:
        return None
    found = body[places[-1]]  # a later class of the same name takes the earlier one's place
    for node in found.body:
        if isinstance(node, ast.FunctionDef) and node.name == method:
            return _unannotated(node.args)
    bases = (base.id for base in found.bases if isinstance(base, ast.Name))
    return next((given for base in bases if (given := _parameters(body[: places[-1]], base, method))), None)


def _unannotated(parameters: ast.arguments) -> ast.arguments:
    for node in ast.walk(parameters):
        if isinstance(node, ast.arg):
            node.annotation = None
    return parameters


def _needed(tree: ast.Module, names: set[str]) -> list[str]:
    """The module's imports and assignments that bind these names, and what those need in turn."""
    kept = []
    for node in reversed(tree.body):
        if names & set(_bound(node)):
            names = names | set(_names(node))
            kept.append(ast.unparse(node))
    return kept[::-1]


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((name.asname or name.name).partition(".")[0] for name in node.names)
    elif isinstance(node, ast.Assign):
        yield from (part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
