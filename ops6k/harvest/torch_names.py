"""Which names of torch are operators: nn modules, nn.functional and the tensor functions of torch, once each.

A function counts when it is public, documented (in its own place or as a tensor method) and overridable, or makes tensors.
In-place twins (trailing underscore) are left out. Runs in a harvest worker: op_db changes global flags of torch.
"""

import inspect
import re
from dataclasses import dataclass
from types import ModuleType

from ops6k.labels import key

# Order of preference where several names mean one function.
SPACES = ("F", "torch", "torch.linalg", "torch.fft", "torch.special")

# Not overridable, mostly because they take no tensor, and operators all the same.
_MAKERS = """zeros ones full empty arange linspace logspace eye empty_permuted empty_strided tril_indices triu_indices rand randn randint randperm
hann_window hamming_window blackman_window bartlett_window kaiser_window as_tensor asarray tensor complex polar normal vander
rand_like randn_like randint_like as_strided cartesian_prod fft.fftfreq fft.rfftfreq nn.functional.hardsigmoid nn.functional.hardswish
sparse_coo_tensor sparse_csr_tensor""".split()

# Classes of torch.nn that hold others or only name an interface.
_CONTAINERS = (
    "Module Sequential ModuleList ModuleDict ParameterList ParameterDict Container DataParallel RNNBase RNNCellBase".split()
)

# Listed as aliases of the binary torch.max and torch.min, whose first use is as reductions.
_NOT_ALIASES = ("torch.maximum", "torch.minimum")

_EXCLUDED = (
    (r"nn\.Lazy.*", "lazy: it has no weights before its first call"),
    (r"nn\.(NLLLoss2d)", "deprecated"),
    (r"nn\.(Upsampling.*)", "deprecated"),
    (r"(?!torch\.index_copy).*_copy", "twin of a view, for functionalisation"),
    (r"torch\.unsafe_.*|torch\.native_.*|F\.native_.*", "internal twin"),
    (r"F\..*_with_indices", "the same function with return_indices=True"),
    (r"torch\.quantize.*|torch\.dequantize|torch\.int_repr|torch\.q_.*", "quantised tensors"),
    (r"torch\.sparse_.*|torch\.(hspmm|smm|sspaddmm|hsmm|spmm|dsmm|saddmm)", "sparse tensors"),
    (r"torch\.empty.*", "returns uninitialised memory"),
    (r"torch\.sym_.*|torch\.autocast", "no function of tensors"),
    (r"torch\.(from_file|from_dlpack|to_dlpack|frombuffer|from_numpy)", "reads memory or files of others"),
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A name of torch. reason says why it is no operator of its own; empty where it is one."""

    label: str
    reason: str


def resolve(label: str) -> object:
    """The object that a label names; raises AttributeError."""
    import torch

    if label.startswith("nn."):
        return getattr(torch.nn, label[3:])
    if label.startswith("F."):
        return getattr(torch.nn.functional, label[2:])
    found: object = torch
    for part in label.split(".")[1:]:
        found = getattr(found, part)
    return found


def label_of(opinfo_name: str) -> str:
    """nn.functional.relu -> F.relu, linalg.inv -> torch.linalg.inv."""
    prefix = "nn.functional."
    return f"F.{opinfo_name[len(prefix) :]}" if opinfo_name.startswith(prefix) else f"torch.{opinfo_name}"


def listed(_: str) -> list[tuple[str, str]]:
    """(label, reason) of every name of torch, sorted; the worker's way to `functions` and `modules`."""
    return sorted((item.label, item.reason) for item in (*modules(), *functions()))


def modules() -> list[Listed]:
    import torch

    public = [name for name in dir(torch.nn) if not name.startswith("_") and name not in _CONTAINERS]
    found = [
        name
        for name in public
        if inspect.isclass(getattr(torch.nn, name)) and issubclass(getattr(torch.nn, name), torch.nn.Module)
    ]
    return [Listed(f"nn.{name}", _excluded(f"nn.{name}")) for name in found]


def functions() -> list[Listed]:
    """Functions of all spaces; of several names for one function all but one are marked as aliases of it."""
    labels = [label for label in _public_functions() if not _excluded(label)]
    kept = _kept_names(labels)
    items = [Listed(label, "" if kept[label] == label else f"alias of {kept[label]}") for label in labels]
    return items + [Listed(label, _excluded(label)) for label in _public_functions() if _excluded(label)]


def _public_functions() -> list[str]:
    import torch

    overridable = {
        function for found in torch.overrides.get_overridable_functions().values() for function in found if callable(function)
    }
    overridable |= {resolve(f"torch.{name}") for name in _MAKERS}
    labels = []
    for space in SPACES:
        module = _space(space)
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if (
                not name.startswith("_")
                and not name.endswith("_")
                and callable(function)
                and function in overridable
                and _documented(name, function)
            ):
                labels.append(f"{space}.{name}")
    return labels


def _space(name: str) -> ModuleType:
    import torch

    return torch.nn.functional if name == "F" else resolve(name)


def _documented(name: str, function: object) -> bool:
    import torch

    return bool(function.__doc__ or getattr(getattr(torch.Tensor, name, None), "__doc__", None))


def _excluded(label: str) -> str:
    for pattern, reason in _EXCLUDED:
        if re.fullmatch(pattern, label):
            return reason
    name = re.escape(label.removeprefix("F."))
    # What is said of an argument ("size_average is deprecated") does not count.
    said = rf"(?:This function|:func:`(?:torch\.)?{name}`|{name}|This class) is deprecated"
    return "deprecated" if re.search(said, resolve(label).__doc__ or "") else ""


def _kept_names(labels: list[str]) -> dict[str, str]:
    """The name that stands for each label: the one that the operator database uses, else the first by SPACES."""
    aliases = _aliases(labels)
    kept: dict[object, str] = {}
    for label in sorted(labels, key=lambda label: (label in aliases, labels.index(label))):
        function = resolve(label)
        name = next((kept[k] for k in (id(function), key(label)) if k in kept), label)
        name = kept.get(aliases.get(label), name)
        for k in (id(function), key(label), label):
            kept.setdefault(k, name)
    return {label: kept[label] for label in labels}


def _aliases(labels: list[str]) -> dict[str, str]:
    """alias -> name, as torch's own table of operators and the documentation say; F. stays the name of what is there."""
    from torch.testing._internal.common_methods_invocations import op_db

    pairs = {label_of(alias.name): label_of(op.name) for op in op_db for alias in op.aliases}
    for label in labels:
        said = re.search(r"Alias (?:for|of) :\w+:`~?(torch\.[\w.]+?)(?:\(\))?`", resolve(label).__doc__ or "")
        if said:
            pairs[label] = said.group(1).replace("torch.nn.functional.", "F.")
    return {alias: name for alias, name in pairs.items() if not alias.startswith("F.") and alias not in _NOT_ALIASES}
