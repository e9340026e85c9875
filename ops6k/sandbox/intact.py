"""Whether what judges a candidate is still what it was before the candidate's code ran in the same process.

Looks at this package's modules, at the builtins and the parts of the standard library and of torch that it compares with, for
names that stand for something else, functions with another body, tables with other contents, and modes left on torch's stacks.
Not a proof: other code of torch, C structures, and what is put back before the end are not looked at.
"""

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType

MODULES = (
    "builtins",
    "json",
    "json.decoder",
    "json.encoder",
    "math",
    "operator",
    "os",
    "posixpath",
    "time",
    "torch",
    "torch._C",
    "torch.nn",
    "torch.nn.functional",
    "torch.utils._pytree",
)
CLASSES = ("torch.Tensor", "torch.nn.Module")
KERNELS = ("abs", "eq.Tensor", "eq.Scalar", "le.Tensor", "sub.Tensor", "max", "isnan", "all", "any", "sum", "clone")
"""Of the dispatcher's tables: what outputs are compared with."""
_ABSENT = object()


def changes() -> Callable[[], str]:
    """Call before the candidate's code runs; what it returns says, called after it, what is no longer as it was, or nothing."""
    own = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "ops6k" and module is not None}
    others = {name: sys.modules[name] for name in MODULES if name in sys.modules}
    spaces = [(name, module.__dict__, dict(module.__dict__), name in own) for name, module in (own | others).items()]
    spaces += [(name, kind.__dict__, dict(kind.__dict__), True) for name, kind in _classes(own)]
    bodies = [
        (f, f.__code__, f.__defaults__) for _, _, names, whole in spaces if whole for f in map(_function, names.values()) if f
    ]
    tables = [
        (f"{name}.{key}", value, value.copy())
        for name, _, names, whole in spaces
        if whole
        for key, value in names.items()
        if type(value) in (dict, list, set)
    ]
    tables += [(f"sys.{name}", getattr(sys, name), getattr(sys, name).copy()) for name in ("meta_path", "path", "path_hooks")]
    modules, loaded, builtin, of_torch = own | others, sys.modules, dict(sys.modules["builtins"].__dict__), _torch_state()
    standing = of_torch()
    module_type = ModuleType

    # No builtin is called from here on: they may have been replaced. `key in (...)` and `is` are the interpreter's own.
    def changed() -> str:
        for name, module in modules.items():
            if loaded.get(name) is not module:
                return f"module {name}"
        for name, space, before, whole in spaces:
            for key, value in before.items():
                if space.get(key, _ABSENT) is not value and key not in ("__warningregistry__", "__annotations__"):
                    return f"{name}.{key}"
            for key in space:
                added = key not in before and space[key].__class__ is not module_type
                if added and (key in builtin if not whole else key not in ("__warningregistry__", "__annotations__")):
                    return f"{name}.{key}"
        for function, body, defaults in bodies:
            if function.__code__ is not body or function.__defaults__ is not defaults:
                return f"the body of {function.__qualname__}"
        for name, table, before in tables:
            if table != before:
                return f"the contents of {name}"
        now = of_torch()
        for what, value in standing.items():
            if now[what] != value:
                return what
        return ""

    return changed


def _classes(own: dict[str, ModuleType]) -> list[tuple[str, type]]:
    found = [
        (f"{name}.{key}", value)
        for name, module in own.items()
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == name
    ]
    for dotted in CLASSES:
        module, _, key = dotted.rpartition(".")
        if module in sys.modules:
            found.append((dotted, getattr(sys.modules[module], key)))
    layers = vars(sys.modules["torch.nn"]) if "torch.nn" in sys.modules else {}
    found += [(f"torch.nn.{key}", value) for key, value in layers.items() if isinstance(value, type)]
    return found


def _function(value: object) -> FunctionType | None:
    value = getattr(value, "__func__", getattr(value, "fget", value)) if isinstance(value, classmethod | property) else value
    return value if type(value) is FunctionType else None


def _torch_state() -> Callable[[], dict[str, object]]:
    """What is called to see torch's stacks of modes and the kernels that comparisons are made with."""
    torch = sys.modules.get("torch")
    if torch is None:
        return dict
    functions, dispatches, dump = torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack, torch._C._dispatch_dump
    kernels = [f"aten::{name}" for name in KERNELS]
    return lambda: {
        "torch's function modes": functions(),
        "torch's dispatch modes": dispatches(),
        **{f"the kernel of {kernel}": dump(kernel) for kernel in kernels},
    }
