"""How an operator reads: its signature, the first line of its documentation, the hash of its source.

Standard library only. Nothing here depends on the version of Python: annotations, whose text does, are left out.
"""

import ast
import hashlib
import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path

DOC_CHARACTERS = 160


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
    # Of a class its own: inspect.getdoc would hand down nn.Module's.
    found = target.__dict__.get("__doc__") if inspect.isclass(target) else inspect.getdoc(target)
    lines = textwrap.dedent(found or "").strip().splitlines()
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
