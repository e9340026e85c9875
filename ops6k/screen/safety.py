"""Which source texts may run at all: an allow-list over the syntax tree, before a single line is executed.

A task needs torch, arithmetic and classes; everything that reaches further (imports, dunder names, files, reflection,
patching of modules) is refused by name. The sandbox is the second line: this one keeps out what would only waste it, and
what a sandbox cannot tell from honest work (patching torch's comparison, a tensor or a module that lies to its judge).
Not a proof: a hostile text that uses only allowed names may still misbehave inside its child. Not stopped here: hangs, powers
that take years, recursion, memory, and exceptions of any kind (SystemExit too), which the sandbox turns into verdicts.
"""

import ast
import builtins
import importlib
from collections import Counter
from collections.abc import Iterator
from types import ModuleType

from ops6k.records import Reason
from ops6k.screen.finding import Finding

MEMBERS: dict[str, str | None] = {
    "math": None,
    "itertools": None,
    "typing": """Any Callable ClassVar Dict Final Generic Iterable Iterator List Literal Mapping NamedTuple Optional Sequence Set Tuple Type
    TypeVar Union cast overload""",
    "functools": "partial reduce lru_cache cache cached_property",
    "collections": "OrderedDict defaultdict namedtuple deque Counter",
    "collections.abc": "Callable Iterable Iterator Mapping Sequence",
    "dataclasses": "dataclass field",
    "enum": "Enum IntEnum",
    "abc": "ABC abstractmethod",
    "numbers": "Number Integral Real",
    "__future__": None,
}
"""What a task may use of the standard library; None: every public name. functools.update_wrapper writes into any object's
globals and typing.get_type_hints evaluates strings: a module is not safe because it looks dull."""
IMPORTS = ("torch", *MEMBERS)

_BUILTINS_REFUSED = frozenset(
    """eval exec compile open breakpoint hash id getattr setattr delattr hasattr globals locals vars dir help exit quit memoryview
    type __import__ __builtins__ __loader__ __spec__ __file__""".split()
)
_DUNDERS_ALLOWED = frozenset("__init__ __call__ __len__ __iter__ __getitem__ __post_init__ __repr__".split())
_ATTRIBUTES_REFUSED = frozenset(
    """format format_map mro gi_frame gi_code cr_frame cr_code ag_frame ag_code tb_frame tb_next f_back f_globals f_locals f_builtins f_code
    func_globals func_code co_code co_consts with_traceback add_note tofile fromfile from_file numpy storage untyped_storage typed_storage data_ptr share_memory_
    register_module_forward_hook register_module_forward_pre_hook register_module_full_backward_hook set_default_dtype
    set_default_device set_default_tensor_type set_num_threads set_num_interop_threads set_rng_state set_printoptions
    use_deterministic_algorithms set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal __dict__ load_state_dict
    get_rng_state get_num_threads get_num_interop_threads get_float32_matmul_precision get_default_device is_meta is_cuda is_cpu
    is_grad_enabled set_grad_enabled is_inference_mode_enabled""".split()
)
_TORCH_MODULES = frozenset(
    "nn nn.functional nn.init nn.utils nn.utils.parametrizations nn.parameter fft linalg special compiler autograd.functional nn.attention".split()
)
_TORCH_REFUSED = frozenset(
    """load save compile from_file import_ir_module import_ir_module_from_buffer merge_type_from_type_comment parse_ir parse_schema
    parse_type_comment read_vitals set_vital fork wait vmap cond set_warn_always frombuffer from_dlpack to_dlpack from_numpy asarray
    get_device_module""".split()
)
_LONGEST_CHAIN = 16
_TORCH_CLASSES = frozenset(
    """Tensor dtype device Size Generator finfo iinfo memory_format layout no_grad enable_grad set_grad_enabled inference_mode autocast
    FloatTensor DoubleTensor HalfTensor BFloat16Tensor IntTensor LongTensor BoolTensor""".split()
)
"""Of torch itself; others compile TorchScript, switch dispatch keys, hold storages."""
_RELIED_ON = frozenset(
    """train eval state_dict load_state_dict parameters named_parameters buffers named_buffers modules named_modules children
    named_children to to_empty apply requires_grad_ zero_grad register_parameter register_buffer register_module add_module
    get_parameter get_buffer get_submodule get_extra_state set_extra_state register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_state_dict_pre_hook register_load_state_dict_pre_hook _apply _call_impl
    _wrapped_call_impl _replicate_for_data_parallel _named_members _save_to_state_dict _load_from_state_dict _parameters _buffers
    _modules _forward_hooks _forward_pre_hooks _backward_hooks""".split()
)
"""Of nn.Module: what the screen asks a model. One that answers in its own way can say anything."""
_COMPILER_ALLOWED = frozenset(("is_compiling", "is_dynamo_compiling", "disable"))


def unsafe(tree: ast.Module, also: frozenset[str] = frozenset()) -> Finding | None:
    """The first thing in a source that reaches outside a task, or None. also: dotted names that it may import and use
    besides; `triton.language.*` stands for all public names below."""
    imported = _imported(tree)
    modules = dict(imported)
    twice = next((name for name, dotted in imported if modules[name] != dotted), None)
    if twice:
        return Finding(Reason.UNSAFE_CODE, f"imports two things as {twice}")
    if any(_is_long_chain(node) for node in ast.walk(tree)):
        return Finding(Reason.UNSAFE_CODE, f"a chain of more than {_LONGEST_CHAIN} attributes")
    bases = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        problem = _problem(node, modules, also)
        if (
            problem is None
            and id(node) not in bases
            and isinstance(node, ast.Name | ast.Attribute)
            and _is_module(node, modules, also)
        ):
            problem = f"uses the module {ast.unparse(node)} as a value"  # under another name nothing would be looked at
        if problem:
            return Finding(Reason.UNSAFE_CODE, f"line {getattr(node, 'lineno', 0)}: {problem}")
    return _patched(tree, modules) or _chosen_self(tree) or _unlike_a_module(tree, modules)


def _is_long_chain(node: ast.AST) -> bool:
    """a.b.c...: looked at from each of its parts, so a long one takes its square."""
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(node, ast.Attribute):
            return False
        node = node.value
    return True


def _chosen_self(tree: ast.Module) -> Finding | None:
    """A method taken from its class, to be called with a self of one's choosing: what it sets would be set elsewhere."""
    methods = {
        (cls.name, part.name)
        for cls in ast.walk(tree)
        if isinstance(cls, ast.ClassDef)
        for part in cls.body
        if isinstance(part, ast.FunctionDef) and not part.decorator_list
    }
    own = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == "self"
    }
    for node in ast.walk(tree):
        taken = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in methods
        if taken and id(node) not in own:
            return Finding(Reason.UNSAFE_CODE, f"line {node.lineno}: takes {ast.unparse(node)} from its class")
    return None


def _unlike_a_module(tree: ast.Module, modules: dict[str, str]) -> Finding | None:
    """A class that stands for a tensor, or that answers in its own way what the screen asks a module."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)} - bound
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        odd = next((base for base in node.bases if not _may_be_base(base, classes, modules)), None)
        if odd is not None:
            return Finding(Reason.UNSAFE_CODE, f"line {node.lineno}: {node.name} is made from {ast.unparse(odd)[:60]}")
        named = next((name for name, _ in _names_of(node) if node.bases and name in _RELIED_ON), None)
        if named:
            return Finding(Reason.UNSAFE_CODE, f"line {node.lineno}: {node.name} has a {named} of its own")
    return None


def _names_of(cls: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    """Every name that the body of a class gives something to."""
    for node in ast.walk(ast.Module(cls.body, [])):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node


def _may_be_base(base: ast.expr, classes: set[str], modules: dict[str, str]) -> bool:
    """Classes of the source, of nn and of the modules allowed; no tensor, and nothing that only running it would tell."""
    base = base.value if isinstance(base, ast.Subscript) else base
    dotted = _dotted(base)
    if dotted is None:
        return False
    root, _, rest = dotted.partition(".")
    if root not in modules:
        return dotted in classes or (not rest and isinstance(getattr(builtins, dotted, None), type))
    full = modules[root] + (f".{rest}" if rest else "")
    if not full.startswith("torch."):
        return True
    return full.startswith("torch.nn.") and full.rpartition(".")[2] not in ("Parameter", "Buffer", "UninitializedParameter")


def _is_module(node: ast.Name | ast.Attribute, modules: dict[str, str], also: frozenset[str]) -> bool:
    dotted = _dotted(node)
    root, _, rest = dotted.partition(".") if dotted else ("", "", "")
    if root not in modules or isinstance(node.ctx, ast.Store):
        return root in modules and isinstance(node, ast.Name)  # bound anew: the name no longer says what it is
    full = modules[root] + (f".{rest}" if rest else "")
    return full in IMPORTS or full.removeprefix("torch.") in _TORCH_MODULES or any(full in _prefixes(name) for name in also)


def _imported(tree: ast.Module) -> list[tuple[str, str]]:
    """Local name and dotted name of every module or member that the source imports."""
    pairs = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            pairs += [
                (alias.asname or alias.name.split(".")[0], alias.name if alias.asname else alias.name.split(".")[0])
                for alias in node.names
            ]
        elif isinstance(node, ast.ImportFrom):
            pairs += [(alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names]
    return pairs


def _problem(node: ast.AST, modules: dict[str, str], also: frozenset[str]) -> str | None:
    match node:
        case ast.Import(names=names):
            return next((f"imports {a.name}" for a in names if not _import_allowed(a.name) and a.name not in also), None)
        case ast.ImportFrom(module=module, names=names, level=level):
            dotted = [f"{module}.{alias.name}" for alias in names]
            if level or module is None or any(alias.name == "*" for alias in names):
                return f"imports from {module or '.'} by star or relative path"
            return next((f"imports {name}" for name in dotted if not _member_allowed(name, also)), None)
        case (
            ast.Name(id="self" | "cls", ctx=ast.Store())
            | ast.ExceptHandler(name="self" | "cls")
            | ast.MatchAs(name="self" | "cls")
        ):
            return "gives self another meaning"
        case ast.alias(asname="self" | "cls"):
            return "gives self another meaning"
        case ast.Name(id=name):
            return f"uses {name}" if name in _BUILTINS_REFUSED or (name.startswith("__") and name != "__name__") else None
        case ast.Attribute(attr=attr):
            return _attribute_problem(node, attr, modules, also)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return f"defines {name}" if name.startswith("__") and name not in _DUNDERS_ALLOWED else None
        case ast.arg(arg=name):
            return f"names an argument {name} like an import" if name in modules else None
        case ast.Module(body=body) if odd := _borrowed_self(body):
            return f"{odd} takes a self outside a class"
        case ast.Global() | ast.Nonlocal() | ast.AsyncFunctionDef() | ast.Await() | ast.TryStar():
            return f"uses {type(node).__name__.lower()}"
        case ast.keyword(arg="metaclass"):
            return "sets a metaclass"
        case ast.MatchClass():
            return "matches on a class"
    return None


def _borrowed_self(body: list[ast.stmt]) -> str | None:
    """A function that is no method, with an argument called self: what it changes is not its own."""
    methods = {id(m) for cls in ast.walk(ast.Module(body, [])) if isinstance(cls, ast.ClassDef) for m in cls.body}
    for node in ast.walk(ast.Module(body, [])):
        if isinstance(node, ast.FunctionDef | ast.Lambda) and id(node) not in methods:
            named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if any(argument.arg in ("self", "cls") for argument in named):
                return getattr(node, "name", "a lambda")
    return None


def _attribute_problem(node: ast.Attribute, attr: str, modules: dict[str, str], also: frozenset[str]) -> str | None:
    if attr.startswith("__") and attr not in ("__init__", "__call__", "__name__"):
        return f"reaches for {attr}"
    if attr in _ATTRIBUTES_REFUSED:
        return f"reaches for {attr}"
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    if attr.startswith("_") and not attr.startswith("__") and not own:
        return f"reaches for the private {attr}"
    dotted = _dotted(node)
    root, _, rest = dotted.partition(".") if dotted else ("", "", "")
    if root in modules and not _member_allowed(f"{modules[root]}.{rest}", also):
        return f"reaches for {modules[root]}.{rest}"
    return None


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := _dotted(node.value)):
        return f"{base}.{node.attr}"
    return None


def _import_allowed(name: str) -> bool:
    if name.startswith("torch."):
        return name.removeprefix("torch.") in _TORCH_MODULES
    return name in IMPORTS


def _member_allowed(dotted: str, also: frozenset[str]) -> bool:
    """Whether a dotted name under an allowed module is one of its public members, and no module in passing."""
    if dotted in also or (any(f"{name}.*" in also for name in _prefixes(dotted)) and "._" not in dotted):
        return True
    first, _, rest = dotted.partition(".")
    if first == "torch":
        return _torch_member_allowed(rest)
    for module in sorted(MEMBERS, key=len, reverse=True):
        if dotted.startswith(f"{module}."):
            member, names = dotted.removeprefix(f"{module}.").split(".")[0], MEMBERS[module]
            return member in names.split() if names is not None else not member.startswith("_")
    return dotted in IMPORTS


def _prefixes(dotted: str) -> Iterator[str]:
    """a and a.b of a.b.c."""
    parts = dotted.split(".")
    return (".".join(parts[:i]) for i in range(1, len(parts)))


def _torch_member_allowed(rest: str) -> bool:
    """`rest` is what stands after `torch.`: nn.functional.relu, float32, Tensor.sum, linalg.norm."""
    if rest in _TORCH_MODULES or rest == "":
        return True
    module = next((m for m in sorted(_TORCH_MODULES, key=len, reverse=True) if rest.startswith(f"{m}.")), "")
    member = (rest.removeprefix(f"{module}.") if module else rest).split(".")[0]
    if member.startswith(("_", "set_", "activate_")) or member in _TORCH_REFUSED:
        return False
    found = getattr(importlib.import_module("torch" + (f".{module}" if module else "")), member, None)
    if not module and isinstance(found, type) and member not in _TORCH_CLASSES:
        return False
    if module == "compiler":
        return member in _COMPILER_ALLOWED
    # Unknown members fail at run time as such; known ones must be no module (torch.utils, torch.hub, torch.ops ...).
    return not isinstance(found, ModuleType)


def _is_layer(func: ast.expr, modules: dict[str, str]) -> bool:
    """nn.Linear of the nn that was imported."""
    root, _, rest = (_dotted(func) or "").partition(".")
    return modules.get(root) == "torch.nn" and rest[:1].isupper()


def _patched(tree: ast.Module, modules: dict[str, str]) -> Finding | None:
    """An assignment to, or deletion of, an attribute of anything but self or a module just built: torch.allclose = ..."""
    built = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_layer(node.value.func, modules)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    bound = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    free = {"self"} | {name for name in built if bound[name] == 1}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            root: ast.expr = node
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if not isinstance(root, ast.Name) or root.id not in free or node.attr in _RELIED_ON:
                return Finding(Reason.UNSAFE_CODE, f"line {node.lineno}: changes {ast.unparse(node)[:60]}")
    return None
