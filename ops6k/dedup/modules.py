"""What makes the modules of a class: members, local lists of layers, methods that build them. Read, not run."""

import ast
from dataclasses import dataclass, field

from ops6k.dedup.program import methods, self_attribute, self_name, walk


@dataclass(slots=True)
class Made:
    """The expressions that make modules in one class."""

    members: dict[str, ast.expr] = field(default_factory=dict)
    local: dict[str, ast.expr] = field(default_factory=dict)
    """Local names, lists with what was appended to them."""
    returned: dict[str, ast.expr] = field(default_factory=dict)
    """What a method returns."""


def made_in(cls: ast.ClassDef) -> Made:
    """The last maker of each name counts. forward makes nothing."""
    made = Made()
    for name, method in methods(cls).items():
        for part in walk(method) if name != "forward" else ():
            if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None:
                for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                    _assign(target, part.value, self_name(method), made)
            elif isinstance(part, ast.Return) and part.value is not None:
                made.returned[name] = part.value
            else:
                _grow(part, made)
    return made


def _assign(target: ast.expr, value: ast.expr, self_: str | None, made: Made) -> None:
    member = self_attribute(target, self_)
    if member is not None:
        made.members[member] = value
    elif isinstance(target, ast.Name):
        # A list of its own: what is appended must not change the program's tree.
        made.local[target.id] = ast.List([*value.elts]) if isinstance(value, ast.List) else value


def _grow(part: ast.AST, made: Made) -> None:
    """layers.append(nn.ReLU()), layers.extend([...]), layers += [...]."""
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in ("append", "extend"):
        target, more = part.func.value, part.args
    elif isinstance(part, ast.AugAssign):
        target, more = part.target, [part.value]
    else:
        return
    grown = made.local.get(target.id) if isinstance(target, ast.Name) else None
    if isinstance(grown, ast.List):
        grown.elts += more
