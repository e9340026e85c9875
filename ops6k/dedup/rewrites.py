"""Copies of a task written otherwise: the same computation in another order, spelling or structure.

As variants.py for tests and `ops6k dedup --self-test`. Where a rewrite does not apply (nothing to reorder) the copy is the
task as it stands, less its comments. Unlike a resized copy each of these runs and computes what the task computes.
"""

import ast
import copy
from collections.abc import Callable

from ops6k.dedup.variants import disguised

_FUNCTIONS = {
    "ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "Mish": "mish", "Tanh": "tanh", "Sigmoid": "sigmoid", "Softplus": "softplus",
    "ELU": "elu", "SELU": "selu", "Hardswish": "hardswish", "Hardsigmoid": "hardsigmoid", "Hardtanh": "hardtanh", "LeakyReLU": "leaky_relu",
    "ReLU6": "relu6", "Softsign": "softsign", "LogSigmoid": "logsigmoid", "CELU": "celu",
}  # fmt: skip
"""Modules without arguments or state, and the functions that they call."""


def reordered(code: str) -> str:
    """__init__ back to front, and independent neighbouring statements of forward swapped."""
    tree = ast.parse(code)
    for cls in _classes(tree):
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and method.name in ("__init__", "forward"):
                method.body = _swapped(method.body)
    return ast.unparse(tree)


def functional(code: str) -> str:
    """Activations and linear layers as functions instead of modules."""
    tree = ast.parse(code)
    for cls in _classes(tree):
        made = {
            target.attr: part.value
            for part in ast.walk(cls)
            if isinstance(part, ast.Assign) and isinstance(part.value, ast.Call)
            for target in part.targets
            if isinstance(target, ast.Attribute)
        }
        _Functional(made).visit(cls)
    tree.body.insert(0, ast.parse("import torch.nn.functional as _F").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def wrapped(code: str) -> str:
    """The model as the only member of another."""
    tree = ast.parse(code)
    inner = _model(tree)
    methods = {part.name: part for part in inner.body if isinstance(part, ast.FunctionDef)}
    outer = ast.parse(
        "class Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self): pass"
    ).body[0]
    make, run = outer.body
    if "__init__" in methods:
        make.args = copy.deepcopy(methods["__init__"].args)
    make.body.append(ast.Assign([_self("wrapped")], ast.Call(ast.Name("Inner"), *_passed(make.args))))
    run.args = copy.deepcopy(methods["forward"].args)
    run.body = [ast.Return(ast.Call(_self("wrapped"), *_passed(run.args)))]
    inner.name = "Inner"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "Model":
            node.id = "Inner"
    tree.body += [*ast.parse("import torch").body, outer]
    return ast.unparse(ast.fix_missing_locations(tree))


def split(code: str) -> str:
    """The first half of forward in a method of its own."""
    tree = ast.parse(code)
    model = _model(tree)
    forward = next(part for part in model.body if isinstance(part, ast.FunctionDef) and part.name == "forward")
    half = len(forward.body) // 2
    head, tail = forward.body[:half], forward.body[half:]
    if any(isinstance(node, ast.Return) for part in head for node in ast.walk(part)) or not any(map(_stored, head)):
        head, tail = forward.body, []
    arguments = {argument.arg for argument in ast.walk(forward.args) if isinstance(argument, ast.arg)} - {"self"}
    read = set().union(*map(_loaded, tail)) if tail else set()
    live = sorted((set().union(*map(_stored, head)) | arguments) & read)
    call = ast.Call(_self("head"), *_passed(forward.args))
    method = ast.FunctionDef("head", copy.deepcopy(forward.args), [*head], [])
    if tail:
        method.body.append(ast.Return(_names(live, ast.Load())))
        forward.body = [ast.Assign([_names(live, ast.Store())], call), *tail]
    else:
        forward.body = [ast.Return(call)]
    model.body.append(method)
    return ast.unparse(ast.fix_missing_locations(tree))


def everything(code: str) -> str:
    """All rewrites, and renamed, stripped and resized on top."""
    return disguised(wrapped(split(functional(reordered(code)))))


LIKELY: dict[str, Callable[[str], str]] = {
    "reordered": reordered,
    "functional": functional,
    "wrapped": wrapped,
    "split": split,
    "everything": everything,
}
"""Rewrites of which at least 95 % must be found."""


class _Functional(ast.NodeTransformer):
    """Calls of members as calls of functions."""

    def __init__(self, made: dict[str, ast.Call]) -> None:
        self.made = made

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) and _is_self(node.func.value) else None
        maker = self.made.get(name)
        kind = maker.func.attr if maker is not None and isinstance(maker.func, ast.Attribute) else None
        if kind == "Linear":
            state = [ast.Attribute(_self(name), part) for part in ("weight", "bias")]
            return ast.Call(ast.Attribute(ast.Name("_F"), "linear"), [*node.args, *state], [])
        if kind in _FUNCTIONS and not maker.args and not maker.keywords:
            return ast.Call(ast.Attribute(ast.Name("_F"), _FUNCTIONS[kind]), node.args, [])
        return node


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [part for part in tree.body if isinstance(part, ast.ClassDef)]


def _model(tree: ast.Module) -> ast.ClassDef:
    return next(cls for cls in _classes(tree) if cls.name == "Model")


def _swapped(body: list[ast.stmt]) -> list[ast.stmt]:
    """One pass of swaps of independent assignments; what came before super().__init__() stays there."""
    body = list(body)
    for i in range(len(body) - 1):
        left, right = body[i], body[i + 1]
        both = isinstance(left, ast.Assign) and isinstance(right, ast.Assign)
        if both and not _stored(left) & (_loaded(right) | _stored(right)) and not _loaded(left) & _stored(right):
            body[i], body[i + 1] = right, left
    return body


def _stored(node: ast.AST) -> set[str]:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return names | {
        f"self.{part.attr}" for part in ast.walk(node) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
    }


def _loaded(node: ast.AST) -> set[str]:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    # An augmented assignment reads what it stores.
    names |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name)}
    return names | {
        f"self.{part.attr}" for part in ast.walk(node) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load)
    }


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _self(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("self"), name)


def _names(names: list[str], context: ast.expr_context) -> ast.expr:
    parts = [ast.Name(name, context) for name in names]
    return parts[0] if len(parts) == 1 else ast.Tuple(parts, context)


def _passed(arguments: ast.arguments) -> tuple[list[ast.expr], list[ast.keyword]]:
    """The arguments of a method, self left out, as those of a call."""
    positional: list[ast.expr] = [ast.Name(argument.arg) for argument in [*arguments.posonlyargs, *arguments.args][1:]]
    if arguments.vararg:
        positional.append(ast.Starred(ast.Name(arguments.vararg.arg)))
    keywords = [ast.keyword(argument.arg, ast.Name(argument.arg)) for argument in arguments.kwonlyargs]
    return positional, keywords + ([ast.keyword(None, ast.Name(arguments.kwarg.arg))] if arguments.kwarg else [])
