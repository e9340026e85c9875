"""Whether a task's labels say what its code does: every label is called, every compute operator that is called has a label.

Judged by what forward calls in the dry run (ops6k.screen.calls). A label `transformers.<Class>` is met by a helper class or
function of that name. Plain arithmetic, shapes and casts may be declared or not.
"""

import ast

from ops6k.labels import ARITHMETIC, CONTAINERS, SHAPE, key
from ops6k.records import Reason
from ops6k.screen.calls import Watch, squashed
from ops6k.screen.finding import Finding

_FREE = ARITHMETIC | SHAPE | CONTAINERS


def in_text(tree: ast.Module, ops: tuple[str, ...]) -> Finding | None:
    """What the labels alone show: none of them computes, or the helper that one names is not there."""
    helpers = {node.name.lower().replace("_", "") for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    of_library = [op for op in ops if op.startswith("transformers.")]
    missing = next((op for op in of_library if squashed(op) not in helpers), None)
    if missing:
        return Finding(Reason.LABEL, f"declares {missing}, but no class or function of that name is there")
    if not of_library and all(key(op) in CONTAINERS for op in ops):
        return Finding(Reason.LABEL, f"no label computes anything: {', '.join(ops) or 'none given'}")
    return None


def in_calls(watch: Watch, ops: tuple[str, ...]) -> Finding | None:
    """A label that forward never calls, or a call that no label names."""
    exact: dict[str, set[str]] = {}
    for operator, name in watch.made:
        exact.setdefault(operator, set()).add(name)
    for op in ops:
        operator = key(op)
        if operator not in watch.reached and operator not in CONTAINERS:
            return Finding(Reason.LABEL, f"declares {op}, but forward does not call it")
        if not _of_that_class(op, exact.get(operator, set())):
            return Finding(Reason.LABEL, f"declares {op}, but forward calls {', '.join(sorted(exact[operator]))}")
    declared = {key(op) for op in ops}
    undeclared = sorted(set(exact) - declared - _FREE)
    return Finding(Reason.LABEL, f"calls {', '.join(undeclared)} without a label for it") if undeclared else None


def _of_that_class(op: str, called: set[str]) -> bool:
    """Where one key stands for several classes (batch norm of 1 to 3 axes, ways of padding) a class must be that one."""
    import torch

    name = op.split(".")[-1]
    wanted = squashed(name).replace("zeropad", "constantpad")
    if not called or not isinstance(getattr(torch.nn, name, None), type) or wanted.removesuffix("loss") == key(op):
        return True
    classes = {squashed(cls) for cls in dir(torch.nn) if cls[:1].isupper()}
    for got in (name.replace("zeropad", "constantpad") for name in called):
        # A function (F.batch_norm) stands for any of the classes; F.pad for those of its mode.
        if got == wanted or (wanted.startswith(got) if got.endswith("pad") else got not in classes):
            return True
    return False
