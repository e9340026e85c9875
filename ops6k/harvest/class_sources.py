"""The classes of transformers' modelling files, read from their source: nothing is imported.

Classes with one body under different names are one operator: bodies are compared as syntax trees without docstrings and
annotations, the class's own name replaced. Of those the one is kept that transformers itself copies the others from
(LlamaRMSNorm, not the first of its forty twins by alphabet), else the first by module path.
"""

import ast
import hashlib
import importlib.util
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ops6k.errors import WorkerError
from ops6k.harvest.describe import hash_of

PACKAGE = "transformers"
# Of the package itself; modeling_layers.py only for the base classes.
_SHARED = ("activations.py", "modeling_layers.py", "pytorch_utils.py")
# Where a chain of base classes starts; PreTrainedModel is a whole model, and so is what derives from it.
# Whole networks by name: stacks of layers, and what they are wrapped in. Layers and blocks stay.
_STACKS = re.compile(
    r"(Encoder|Decoder|Stack|Stages?|Backbone|Model|Transformer|Network|Pipeline|Generator|UNet|VQVAE|VAE|HifiGan|Vocoder)(V\d|\d+d)?$"
)
_MODULE_ROOTS = frozenset({"nn.Module", "torch.nn.Module", "GradientCheckpointingLayer"})
_MODEL_ROOTS = frozenset({"PreTrainedModel"})


@dataclass(frozen=True, slots=True)
class SourceClass:
    """A class statement of a modelling file."""

    name: str
    module: str
    bases: tuple[str, ...]
    body: str
    """Hash of the normalised syntax tree, comparable within one version of Python; empty for a whole model."""
    source_hash: str
    """sha256 (16 hex digits) of the text."""

    @property
    def family(self) -> str:
        """llama, of transformers.models.llama.modeling_llama; the module's last name outside of models."""
        parts = self.module.split(".")
        return parts[2] if parts[1] == "models" else parts[-1]


def modelling_files() -> list[str]:
    """Paths below the package, sorted: models/*/modeling_*.py and the shared files."""
    root = _root()
    found = [path for path in root.glob("models/**/modeling_*.py") if not path.name.endswith(("_tf.py", "_flax.py"))]
    return sorted(path.relative_to(root).as_posix() for path in [*found, *(root / name for name in _SHARED)])


def classes_of(file: str) -> list[dict]:
    """Every class statement at the top of one file, as plain values; the worker's way to parse on all cores."""
    module = ".".join([PACKAGE, *Path(file).with_suffix("").parts])
    return [asdict(found) for found in classes_in((_root() / file).read_text(encoding="utf-8"), module)]


def classes_in(text: str, module: str) -> list[SourceClass]:
    """Every class statement at the top of a module's text."""
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            name = node.name
            bases = tuple(ast.unparse(base) for base in node.bases)
            body = "" if any(base.endswith("PreTrainedModel") for base in bases) else _body(node)
            found.append(SourceClass(name, module, bases, body, hash_of(source)))
    return found


def modular_files() -> list[str]:
    """Paths of the files that modelling files are generated from, sorted."""
    root = _root()
    return sorted(path.relative_to(root).as_posix() for path in root.glob("models/**/modular_*.py"))


def citations_of(file: str) -> list[tuple[str, str]]:
    """(family of the file, name of a class that it copies): in `# Copied from` comments, or imported by a modular file."""
    text = (_root() / file).read_text(encoding="utf-8")
    copied = re.findall(r"# Copied from transformers\.models\.[\w.]+?\.([A-Z]\w*)", text)
    imports = re.findall(r"^from \.\.\w+\.modeling_\w+ import (?:\(([^)]*)\)|(.*))$", text, re.MULTILINE)
    names = copied + [name for pair in imports for part in pair for name in re.findall(r"\w+", part)]
    return [(Path(file).parent.name, name) for name in names]


def operators(classes: Iterable[SourceClass], citations: Collection[tuple[str, str]]) -> tuple[dict[str, SourceClass], int, int]:
    """Label -> class of every distinct body that is a module and no whole model; how many such classes, and whole models.

    citations: (family, name of a class that it copies).
    """
    classes = sorted(classes, key=lambda found: found.module)
    modules, models = _derived(classes, _MODULE_ROOTS | _MODEL_ROOTS), _derived(classes, _MODEL_ROOTS)
    parts = [found for found in classes if found.name in modules - models and not found.name.startswith("_")]
    parts = [found for found in parts if not found.module.endswith("modeling_layers")]
    twins: dict[str, list[SourceClass]] = defaultdict(list)
    for part in parts:
        twins[part.body].append(part)
    times = Counter(name for _, name in citations)
    kept = sorted((_original(group, citations, times) for group in twins.values()), key=lambda found: found.module)
    return dict(_labelled(kept)), len(parts), sum(found.name in models for found in classes)


def _original(twins: list[SourceClass], citations: Collection[tuple[str, str]], times: Mapping[str, int]) -> SourceClass:
    """Of identical classes one that is no copy of another, the most copied of those, else the first."""
    names = {found.name for found in twins}

    def rank(found: SourceClass) -> tuple[bool, int]:
        is_copy = any((found.family, name) in citations for name in names - {found.name})
        return is_copy, -times[found.name]

    return min(twins, key=rank)


def is_stack(name: str) -> bool:
    """Whether the name says that a class is a network of layers, too large for an operator."""
    return bool(_STACKS.search(name))


def _labelled(distinct: list[SourceClass]) -> Iterator[tuple[str, SourceClass]]:
    """transformers.Class; where several bodies share the name transformers.family.Class."""
    names = Counter(found.name for found in distinct)
    families = Counter((found.family, found.name) for found in distinct)
    for found in distinct:
        if names[found.name] == 1:
            yield f"{PACKAGE}.{found.name}", found
        elif families[found.family, found.name] == 1:
            yield f"{PACKAGE}.{found.family}.{found.name}", found
        else:
            yield f"{PACKAGE}.{found.module.rpartition('modeling_')[2]}.{found.name}", found


def _derived(classes: list[SourceClass], roots: frozenset[str]) -> set[str]:
    """Names of classes whose bases lead to a root, across files."""
    names, grew = set(roots), True
    while grew:
        new = {found.name for found in classes if any(base in names or _is_layer(base, roots) for base in found.bases)}
        grew = not new <= names
        names |= new
    return names - roots


def _is_layer(base: str, roots: frozenset[str]) -> bool:
    return base.startswith("nn.") and "nn.Module" in roots


def _body(node: ast.ClassDef) -> str:
    """Rewrites the statement on the way."""
    own = node.name
    node.name = "_"
    for part in ast.walk(node):
        if isinstance(part, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(part, clean=False) is not None:
            part.body = part.body[1:] or [ast.Pass()]
        if isinstance(part, ast.FunctionDef):
            part.returns = None
        elif isinstance(part, ast.arg):
            part.annotation = None
        elif isinstance(part, ast.Name) and part.id == own:
            part.id = "_"
    return hashlib.sha256(ast.dump(node).encode()).hexdigest()[:16]


def _root() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise WorkerError(f"{PACKAGE} is not installed")
    return Path(found.origin).parent
