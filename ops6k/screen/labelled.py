"""Whether a task's labels say what its code does: every label is used, every compute operator has a label.

Found by name in the syntax tree of what forward reaches: modules that forward calls, functions of torch, F and their
submodules, tensor methods, Python's operators. A label `transformers.<Class>` is met by a helper class or function of that
name, whose inside is then its own business. Conditions of `if` are control, not computation.
"""

import ast
from collections.abc import Iterator
from functools import cache

from ops6k.labels import ARITHMETIC, CONTAINERS, OPERATORS, SHAPE, key
from ops6k.records import Reason
from ops6k.screen.finding import Finding

_MODULE_ROOTS = ("torch", "nn", "F")
_NOT_TENSORS = ("math", "functools", "itertools", "collections", "typing")
_NOT_OPERATORS = frozenset(
    ("nograd", "manualseed", "generator", "iscompiling", "isdynamocompiling", "finfo", "iinfo", "inferencemode")
)


def finding(tree: ast.Module, ops: tuple[str, ...]) -> Finding | None:
    """A label without code, code without a label, or labels that compute nothing."""
    definitions = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    labelled = {_tail(op): op for op in ops if op.startswith("transformers.")}
    own = {name for name in definitions if name.lower().replace("_", "") in labelled}
    missing = next((op for tail, op in labelled.items() if tail not in {name.lower().replace("_", "") for name in own}), None)
    if missing:
        return Finding(Reason.LABEL, f"declares {missing}, but no class or function of that name is there")
    declared = {key(op): op for op in ops if not op.startswith("transformers.")}
    computing = [op for name, op in declared.items() if name not in CONTAINERS]
    if not computing and not labelled:
        return Finding(Reason.LABEL, f"no label computes anything: {', '.join(ops) or 'none given'}")
    used = used_operators(tree, opaque=frozenset(own))
    missing = next((op for name, op in declared.items() if name not in used), None)
    if missing:
        return Finding(Reason.LABEL, f"declares {missing}, but the code does not use it")
    free = ARITHMETIC | SHAPE | CONTAINERS | _NOT_OPERATORS
    undeclared = sorted(used - set(declared) - free)
    if undeclared:
        return Finding(Reason.LABEL, f"uses {undeclared[0]} and does not declare it")
    return None


def _tail(label: str) -> str:
    return label.split(".")[-1].lower().replace("_", "")


def used_operators(tree: ast.Module, opaque: frozenset[str] = frozenset()) -> set[str]:
    """Keys (labels.key) of the operators that Model.forward reaches. opaque: helper names that are not looked into."""
    definitions = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    model = definitions.get("Model")
    return _Reached(definitions, opaque).of_class(model) if isinstance(model, ast.ClassDef) else set()


class _Reached:
    """Operators by what reaches them; each helper is visited once."""

    def __init__(self, definitions: dict[str, ast.ClassDef | ast.FunctionDef], opaque: frozenset[str]) -> None:
        self.definitions, self.opaque, self.seen = definitions, opaque, set()

    def of_class(self, cls: ast.ClassDef) -> set[str]:
        methods = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
        built = _built(methods["__init__"]) if "__init__" in methods else {}
        found, queue, visited, used_attributes = set(), ["forward"], set(), set()
        while queue:
            name = queue.pop()
            if name in visited or name not in methods:
                continue
            visited.add(name)
            found |= self.of_body(methods[name].body)
            attributes = {n.attr for n in ast.walk(methods[name]) if isinstance(n, ast.Attribute) and _is_self(n.value)}
            used_attributes |= attributes
            queue.extend(attributes & set(methods))
        bases = {ast.unparse(base).split(".")[-1] for base in cls.bases}
        for base in bases & set(self.definitions):
            found |= self.of_definition(base)
        for attribute, names in built.items():
            if attribute in used_attributes:
                found |= set().union(*(self.of_name(name) for name in names))
        return found

    def of_name(self, dotted: str) -> set[str]:
        """What a constructed or called name stands for: an operator of torch, or a helper of this file."""
        root, _, rest = dotted.partition(".")
        if not rest and root in self.definitions:
            return self.of_definition(root)
        return {key(dotted)} if root in _MODULE_ROOTS and not dotted.startswith(("nn.init.", "torch.nn.init.")) else set()

    def of_definition(self, name: str) -> set[str]:
        if name in self.opaque or name in self.seen:
            return set()
        self.seen.add(name)
        definition = self.definitions[name]
        return self.of_class(definition) if isinstance(definition, ast.ClassDef) else self.of_body(definition.body)

    def of_body(self, body: list[ast.stmt]) -> set[str]:
        found: set[str] = set()
        for node in _computation(body):
            if isinstance(node, ast.BinOp | ast.UnaryOp | ast.AugAssign) and type(node.op).__name__ in OPERATORS:
                found.add(OPERATORS[type(node.op).__name__])
            elif isinstance(node, ast.Compare):
                found |= {OPERATORS[type(op).__name__] for op in node.ops if type(op).__name__ in OPERATORS}
            elif isinstance(node, ast.Call):
                found |= self.of_call(node)
        return found

    def of_call(self, node: ast.Call) -> set[str]:
        dotted = _dotted(node.func)
        if dotted and dotted.split(".")[0] in (*_MODULE_ROOTS, *self.definitions):
            return self.of_name(dotted)
        if dotted and dotted.split(".")[0] in _NOT_TENSORS:
            return set()
        if isinstance(node.func, ast.Attribute) and not _is_self(node.func.value) and node.func.attr in tensor_methods():
            return {key(node.func.attr)}
        return set()


def _built(init: ast.FunctionDef) -> dict[str, list[str]]:
    """Attribute of self -> dotted names constructed in what it is assigned (through containers and comprehensions)."""
    built: dict[str, list[str]] = {}
    for node in ast.walk(init):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            names = [
                d for call in ast.walk(node.value) if isinstance(call, ast.Call) and (d := _dotted(call.func)) and _constructs(d)
            ]
            # nn.TransformerEncoderLayer(activation=F.gelu), self.act = torch.tanh: functions kept as attributes.
            names += [
                d
                for n in ast.walk(node.value)
                if isinstance(n, ast.Attribute)
                and (d := _dotted(n))
                and d.startswith(("F.", "torch."))
                and d.count(".") == 1
                and _is_function(d)
            ]
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and _is_self(target.value):
                    built.setdefault(target.attr, []).extend(names)
    return built


def _constructs(dotted: str) -> bool:
    return dotted.split(".")[-1][:1].isupper() and key(dotted) not in ("parameter", "size", "generator", "tensor")


def _is_function(dotted: str) -> bool:
    return dotted.startswith("F.")


def _computation(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes of the statements without what only steers: tests of if, while, assert, conditional expressions; subscripts' indices."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        yield node
        skipped = set()
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
            skipped.add(id(node.test))
        stack.extend(child for child in ast.iter_child_nodes(node) if id(child) not in skipped)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := _dotted(node.value)):
        return f"{base}.{node.attr}"
    return None


@cache
def tensor_methods() -> frozenset[str]:
    """Names of the public methods of a tensor that compute."""
    import torch

    plain = {
        "backward",
        "requires_grad_",
        "register_hook",
        "apply_",
        "map_",
        "cpu",
        "cuda",
        "item",
        "tolist",
        "numpy",
        "stride",
        "is_contiguous",
        "dim",
        "nelement",
        "element_size",
    }
    return (
        frozenset(name for name in dir(torch.Tensor) if not name.startswith("_") and callable(getattr(torch.Tensor, name)))
        - plain
    )
