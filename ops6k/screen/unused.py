"""What a task builds or takes and never uses: arguments of forward, modules and parameters, values overwritten unread."""

import ast
from collections import Counter
from collections.abc import Iterator

from ops6k.records import Reason
from ops6k.screen.finding import Finding


def finding(tree: ast.Module) -> Finding | None:
    """The first unused thing, or None."""
    for cls in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for method in (node for node in cls.body if isinstance(node, ast.FunctionDef)):
            name = _unused_argument(method) if method.name == "forward" else None
            if name:
                return Finding(Reason.UNUSED, f"{cls.name}.forward never uses its argument {name}")
            if method.name != "__init__" and (dead := next(_dead_assignments(method.body), None)):
                return Finding(Reason.UNUSED, f"line {dead.lineno}: {ast.unparse(dead)[:80]} is never used")
        attribute = _unused_attribute(cls)
        if attribute:
            return Finding(Reason.UNUSED, f"{cls.name} builds self.{attribute} and never uses it")
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        if dead := next(_dead_assignments(function.body), None):
            return Finding(Reason.UNUSED, f"line {dead.lineno}: {ast.unparse(dead)[:80]} is never used")
    return None


def _reads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}


def _unused_argument(function: ast.FunctionDef) -> str | None:
    read = set().union(*(_reads(statement) for statement in function.body))
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs][1:]
    return next((arg.arg for arg in arguments if arg.arg not in read), None)


def _unused_attribute(cls: ast.ClassDef) -> str | None:
    """A module, parameter or buffer that __init__ makes and no method reads. Plain numbers may stay unread."""
    made = [name for node in ast.walk(cls) for name in _made(node)]
    read = {n.attr for n in ast.walk(cls) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load) and _is_self(n.value)}
    # nn.init.normal_(self.weight) and self.weight.data.fill_() in __init__ are reads that use nothing.
    outside = {
        n.attr
        for method in cls.body
        if isinstance(method, ast.FunctionDef) and method.name != "__init__"
        for n in ast.walk(method)
        if isinstance(n, ast.Attribute) and _is_self(n.value)
    }
    walks_all = read & {"children", "modules", "named_children", "parameters", "named_parameters", "buffers", "_modules"}
    return None if walks_all else next((name for name in made if name not in outside and not _passed_on(cls, name)), None)


def _made(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _makes_state(node.value):
        yield from (t.attr for t in node.targets if isinstance(t, ast.Attribute) and _is_self(t.value))
    registers = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("register_")
    if registers and node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
        yield node.args[0].value


def _makes_state(call: ast.Call) -> bool:
    """nn.Something(...), torch.something(...) or OwnModule(...): a capitalised callee or one of torch's."""
    name = ast.unparse(call.func)
    return name.split(".")[-1][:1].isupper() or name.startswith("torch.")


def _passed_on(cls: ast.ClassDef, name: str) -> bool:
    """self.name is handed to another constructor in __init__ (nn.Sequential(self.a, self.b), tied weights)."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign) and any(
            isinstance(n, ast.Attribute) and n.attr == name and _is_self(n.value) for n in ast.walk(node.value)
        ):
            return True
    return False


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _dead_assignments(body: list[ast.stmt]) -> Iterator[ast.Assign]:
    """Assignments to plain names whose value is overwritten in the same block, or the function ends, before any read."""
    reads = Counter(name for statement in body for name in _each_read(statement))
    for i, statement in enumerate(body):
        if not isinstance(statement, ast.Assign) or not any(
            isinstance(n, ast.Call | ast.BinOp) for n in ast.walk(statement.value)
        ):
            continue
        names = [n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        plain = all(isinstance(t, ast.Name | ast.Tuple) for t in statement.targets)
        own = Counter(_each_read(statement))
        if plain and names and all(reads[name] == own[name] or _is_overwritten(name, body[i + 1 :]) for name in names):
            yield statement


def _each_read(node: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _is_overwritten(name: str, rest: list[ast.stmt]) -> bool:
    """Whether the next statement that names it assigns it anew."""
    for later in rest:
        if name in _reads(later):
            return False
        named = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(later))
        if named:
            return isinstance(later, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in later.targets)
    return False
