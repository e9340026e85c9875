"""One operator of torch, tried and described. Runs in a harvest worker."""

import ast
import hashlib
import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ops6k.harvest import categories
from ops6k.harvest.torch_names import resolve
from ops6k.harvest.torch_samples import calls
from ops6k.harvest.trials import observe, seed
from ops6k.records import Operator
from ops6k.store import to_plain

DOC_CHARACTERS = 160


def harvested(label: str) -> dict:
    """The Operator that a label names, as plain values; never raises for what the operator does."""
    import torch

    torch.set_num_threads(1)
    seed()
    target = resolve(label)
    seen = observe(lambda dtype: calls(label, dtype))
    operator = Operator(
        name=label,
        library="torch",
        # Without the build's suffix: 2.13.0+cpu and 2.13.0+cu130 hold the same operators.
        version=torch.__version__.partition("+")[0],
        module=module_path(label, target),
        kind="module" if inspect.isclass(target) else "function",
        category=categories.of_torch(label),
        signature=signature(label.rpartition(".")[2], target),
        doc=doc_line(target),
        arity=seen.arity,
        ranks=seen.ranks,
        dtypes=seen.dtypes,
        stochastic=seen.stochastic,
        usable=not seen.failure,
        note=seen.failure,
        source_hash=source_hash(target),
    )
    return to_plain(operator)


def module_path(label: str, target: object) -> str:
    """Where it is defined if Python says so, else where it is found."""
    space = {"nn": "torch.nn", "F": "torch.nn.functional"}.get(label.rpartition(".")[0], label.rpartition(".")[0])
    found = getattr(target, "__module__", None)
    return found if isinstance(found, str) and found.startswith("torch.") and not found.startswith("torch._C") else space


def signature(name: str, target: object) -> str:
    """`relu(input, inplace=False)`; of a module constructor and call: `ReLU(inplace=False)(input)`. Annotations are left out."""
    if inspect.isclass(target):
        return f"{name}{_parameters(target.__init__, skip_self=True)}{_parameters(target.forward, skip_self=True)}"
    try:
        return f"{name}{_parameters(target)}"
    except (ValueError, TypeError):
        return _documented_signature(target)


def _parameters(function: Callable, *, skip_self: bool = False) -> str:
    found = list(inspect.signature(function).parameters.values())[1 if skip_self else 0 :]
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found]
    text = str(inspect.Signature(parameters))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _documented_signature(target: object) -> str:
    """Builtins say it in the first lines of their documentation: `abs(input: Tensor, *, out: Optional[Tensor]) -> Tensor`."""
    text = inspect.getdoc(target) or ""
    match = re.match(r"[\w.]+\(.*?\)(?= ->|\s*$)", text, re.DOTALL | re.MULTILINE)
    return " ".join(match.group(0).split()) if match else ""


def doc_line(target: object) -> str:
    """First sentence line of its documentation that is no signature, cut at 160 characters."""
    lines = textwrap.dedent(inspect.getdoc(target) or "").strip().splitlines()
    text = [line.strip() for line in lines]
    prose = [line for line in text if line and not re.match(r"[\w.]+\(.*(?:->|\)$|,$)|\.\. |:\w+:$|[\w.]+\(", line)]
    return prose[0][:DOC_CHARACTERS] if prose else ""


def source_hash(target: object) -> str | None:
    """sha256 (16 hex digits) of its Python source; None for builtins."""
    try:
        source = _class_source(target) if inspect.isclass(target) else inspect.getsource(target)
    except (TypeError, OSError):
        return None
    return hash_of(source)


def hash_of(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _class_source(target: type) -> str:
    """As inspect.getsource, which parses the whole file anew for every class."""
    lines, places = _classes(inspect.getsourcefile(target))
    first, last = places[target.__qualname__]
    return "\n".join(lines[first - 1 : last])


@cache
def _classes(file: str) -> tuple[list[str], dict[str, tuple[int, int]]]:
    text = Path(file).read_text(encoding="utf-8")
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return text.splitlines(), {node.name: (node.lineno, node.end_lineno) for node in nodes}
