"""Stage 0: what the source text alone shows. Microseconds; nothing is executed.

In order: it parses; it is safe; it has the KernelBench form; nothing is unused; forward reads no module-level
values; nothing asks whether it is being compiled; the labels name something. Whether forward calls what they name, the dry run shows.
"""

import ast
from collections.abc import Iterator

from ops6k.records import Reason
from ops6k.screen import labelled, unused
from ops6k.screen.finding import Finding, one_line
from ops6k.screen.safety import unsafe

LONGEST_SOURCE = 100_000
"""Characters. These checks run outside the sandbox, so what they read is bounded."""

FUNCTIONS = ("get_inputs", "get_init_inputs")


def text_finding(code: str, ops: tuple[str, ...] | None) -> Finding | None:
    """The first thing wrong with a source, or None. ops None: labels are not judged."""
    if len(code) > LONGEST_SOURCE:
        return Finding(Reason.STRUCTURE, f"{len(code):,} characters of source; a task has at most {LONGEST_SOURCE:,}")
    try:
        return _finding(ast.parse(code), ops)
    except RecursionError:
        return Finding(Reason.SYNTAX, "nested too deeply to be read")
    except (SyntaxError, ValueError, MemoryError) as error:
        return Finding(Reason.SYNTAX, one_line(error)[:200])


def _finding(tree: ast.Module, ops: tuple[str, ...] | None) -> Finding | None:
    finding = (
        unsafe(tree) or structure(tree) or unused.finding(tree) or module_values_in_forward(tree) or _asks_for_compiler(tree)
    )
    return finding or (labelled.in_text(tree, ops) if ops is not None else None)


def structure(tree: ast.Module) -> Finding | None:
    """KernelBench form: one Model with forward, one get_inputs, one get_init_inputs, each at the top level."""
    defined = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    names = [node.name for node in defined]
    for name in ("Model", *FUNCTIONS):
        if names.count(name) != 1:
            return Finding(
                Reason.STRUCTURE, f"{name} is defined {names.count(name)} times by def or class at the top level, not once"
            )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        return Finding(Reason.STRUCTURE, f"{twice} is defined {names.count(twice)} times: the last wins unseen")
    model = next(node for node in defined if node.name == "Model")
    methods = [node.name for node in model.body if isinstance(node, ast.FunctionDef)]
    if not isinstance(model, ast.ClassDef) or methods.count("forward") != 1:
        return Finding(Reason.STRUCTURE, f"Model defines forward {methods.count('forward')} times, not once")
    for node in defined:
        if node.name in FUNCTIONS and (node.args.args or node.args.kwonlyargs) and len(node.args.defaults) < len(node.args.args):
            return Finding(Reason.STRUCTURE, f"{node.name} takes arguments")
    return _python_number(model)


def _python_number(model: ast.ClassDef) -> Finding | None:
    """forward returns float(...), x.item() or the like: no tensor, and a graph break on the way."""
    forward = next(node for node in model.body if isinstance(node, ast.FunctionDef) and node.name == "forward")
    for node in ast.walk(forward):
        if isinstance(node, ast.Return) and node.value is not None:
            for part in node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else [node.value]:
                call = part.func if isinstance(part, ast.Call) else None
                name = call.id if isinstance(call, ast.Name) else call.attr if isinstance(call, ast.Attribute) else ""
                if name in ("float", "int", "bool", "item", "tolist") and (
                    isinstance(call, ast.Name) or name in ("item", "tolist")
                ):
                    return Finding(Reason.OUTPUT_TYPE, f"line {node.lineno}: forward returns a Python number ({name})")
    return None


def _asks_for_compiler(tree: ast.Module) -> Finding | None:
    """A task that looks whether it is being compiled is two tasks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).split(".")[-1] in (
            "is_compiling",
            "is_dynamo_compiling",
        ):
            return Finding(Reason.COMPILE, f"line {node.lineno}: asks whether it is being compiled")
    return None


def module_values_in_forward(tree: ast.Module) -> Finding | None:
    """A module-level value that is read where the model computes: such a task cannot be resized by its constructor."""
    values = {
        name.id for node in tree.body for target in _targets(node) for name in ast.walk(target) if isinstance(name, ast.Name)
    }
    for function in computing_functions(tree):
        local = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
        local |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for node in (inner for statement in function.body for inner in ast.walk(statement)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in values - local:
                return Finding(Reason.GLOBALS, f"line {node.lineno}: {function.name} reads the module-level {node.id}")
    return None


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []


def computing_functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Methods but __init__, and module-level functions that some class calls by name."""
    called = {
        node.func.id
        for cls in tree.body
        if isinstance(cls, ast.ClassDef)
        for node in ast.walk(cls)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name != "__init__")
        elif isinstance(node, ast.FunctionDef) and node.name in called and node.name not in FUNCTIONS:
            yield node
