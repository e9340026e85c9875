"""The dataflow of a task as its source shows it: which operator feeds which, found without running anything.

forward is walked symbolically; modules are followed to where __init__ makes them, helper classes and functions are
entered, views and shape arithmetic are seen through. So a functional rewrite, another order of independent statements and
a helper class give the same graph. Loops and branches are walked once; modules handed around as arguments stay hidden.
The ATen operators of a dry run say more (ops6k.screen); this stands in where there is no trace, and orders the operators.
"""

import ast
from dataclasses import dataclass, field

from ops6k.dedup.graph import Graph
from ops6k.dedup.modules import Made, made_in
from ops6k.dedup.names import CONSTANTS, SEEN_THROUGH, VALUES, operator_key
from ops6k.dedup.program import INPUT_FUNCTIONS, Program, methods, model, self_attribute, self_name, walk
from ops6k.labels import CONTAINERS, OPERATORS

_NOT_TENSORS = frozenset("shape device dtype ndim is_cuda requires_grad training itemsize".split())
_SIZE_CALLS = frozenset("len range int float isinstance print".split())
"""Of Python: no tensor comes back. float(x) is a number, x.float() a cast."""
_SIZE_OPERATORS = frozenset("size dim numel device".split())
_RUN_OVER = frozenset("values items children".split())
_MOST_DEEP = 40
_MOST_ENTERED = 2000
"""Calls followed in all: helpers that call helpers twice could otherwise double with every level."""
_HIDDEN = "?hidden"
"""Key of a call that cannot be followed. No operator starts with a question mark."""
_INPUT = "?input"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Flow:
    operators: tuple[str, ...]
    """Keys in dataflow order: inputs before what uses them, outputs last; dead ones are left out."""
    digest: str | None
    """16 hex digits of the graph; None where nothing computes or where a call could not be followed."""


def trace(program: Program) -> Flow:
    """The dataflow of the model's forward (or of the functions, where there is no class)."""
    walker = _Walker(program)
    start = model(program)
    if start:
        outputs = walker.enter_class(program.classes[start], [], outermost=True)
    else:
        outputs = [
            walker.enter(function, [], None) for name, function in program.functions.items() if name not in INPUT_FUNCTIONS
        ]
    order = walker.reachable(outputs)
    operators = walker.operators(order)
    hidden = any(walker.nodes[node][0] == _HIDDEN for node in order)
    return Flow(operators, None if hidden or not operators else walker.digest(outputs, order))


@dataclass(slots=True)
class _Scope:
    """Names of one call: values are node numbers, modules the expressions that make them."""

    self_: str | None
    cls: ast.ClassDef | None
    values: dict[str, int | None] = field(default_factory=dict)
    modules: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    returned: list[int] = field(default_factory=list)


class _Walker(Graph):
    def __init__(self, program: Program) -> None:
        self.program = program
        super().__init__()
        self.by_class: dict[str, Made] = {}
        self.depth = 0
        self.entered = 0

    # Modules and functions

    def makers(self, cls: ast.ClassDef) -> dict[str, ast.expr]:
        """What each member is made by: {'fc': <nn.Linear(i, o)>}."""
        return self.made(cls).members

    def made(self, cls: ast.ClassDef) -> Made:
        if cls.name not in self.by_class:
            self.by_class[cls.name] = made_in(cls)
        return self.by_class[cls.name]

    def enter_class(self, cls: ast.ClassDef, inputs: list[int | None], outermost: bool = False) -> list[int]:
        forward = methods(cls).get("forward")
        if forward is None:
            return [self.node(_HIDDEN, inputs)]
        if outermost:
            names = [*forward.args.posonlyargs, *forward.args.args][1:]
            inputs = [self.node(f"{_INPUT}{i}", []) for i in range(len(names))]
        result = self.enter(forward, inputs, cls)
        return [] if result is None else [result]

    def enter(self, function: Function, inputs: list[int | None], cls: ast.ClassDef | None) -> int | None:
        """The value that a function returns for inputs."""
        self.entered += 1
        if self.depth >= _MOST_DEEP or self.entered > _MOST_ENTERED:
            return self.node(_HIDDEN, inputs)
        scope = _Scope(self_name(function) if cls else None, cls)
        names = [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]][1 if cls else 0 :]
        scope.values.update(zip(names, inputs, strict=False))
        if function.args.vararg:
            scope.values[function.args.vararg.arg] = self.join(inputs[len(names) :])
        scope.functions.update(self.default_functions(function.args))
        self.depth += 1
        self.run(function.body, scope)
        self.depth -= 1
        return self.join(list(scope.returned))

    def default_functions(self, arguments: ast.arguments) -> dict[str, Function]:
        """Arguments that stand for a function of the program, as in `forward(self, x, fn=forward_fn)`."""
        named = [*arguments.posonlyargs, *arguments.args][::-1]
        given = zip(named, arguments.defaults[::-1], strict=False)
        functions = self.program.functions
        return {a.arg: functions[d.id] for a, d in given if isinstance(d, ast.Name) and d.id in functions}

    def apply(self, maker: ast.expr, inputs: list[int | None], cls: ast.ClassDef | None) -> int | None:
        """The value of a module, given by the expression that makes it, on inputs."""
        self.entered += 1
        if self.depth >= _MOST_DEEP or self.entered > _MOST_ENTERED:
            return self.node(_HIDDEN, inputs)
        self.depth += 1
        result = self.apply_kind(maker, inputs, cls)
        self.depth -= 1
        return result

    def apply_kind(self, maker: ast.expr, inputs: list[int | None], cls: ast.ClassDef | None) -> int | None:
        if isinstance(maker, ast.IfExp | ast.Starred | ast.ListComp | ast.GeneratorExp):
            inner = maker.body if isinstance(maker, ast.IfExp) else maker.value if isinstance(maker, ast.Starred) else maker.elt
            return self.apply(inner, inputs, cls)
        if isinstance(maker, ast.List | ast.Tuple):
            return self.chain(maker.elts, inputs, cls)
        if isinstance(maker, ast.Call):
            return self.apply_made(maker, inputs, cls)
        known = self.made(cls).local.get(maker.id) if cls and isinstance(maker, ast.Name) else None
        return self.node(_HIDDEN, inputs) if known is None else self.apply(known, inputs, cls)

    def apply_made(self, maker: ast.Call, inputs: list[int | None], cls: ast.ClassDef | None) -> int | None:
        """As apply, for what a call makes: a library's module, a class of the task, or a method that builds one."""
        if isinstance(maker.func, ast.Name) and maker.func.id in self.program.classes:
            return self.join(list(self.enter_class(self.program.classes[maker.func.id], inputs)))
        path = self.program.dotted(maker.func)
        if path is not None:
            name = operator_key(path, maker.args, maker.keywords)
            return self.chain(maker.args, inputs, cls) if name in CONTAINERS else self.operator(name, inputs)
        builder = maker.func.attr if isinstance(maker.func, ast.Attribute) and isinstance(maker.func.value, ast.Name) else None
        built = self.made(cls).returned.get(builder) if cls else None
        return self.node(_HIDDEN, inputs) if built is None else self.apply(built, inputs, cls)

    def chain(self, makers: list[ast.expr], inputs: list[int | None], cls: ast.ClassDef | None) -> int | None:
        for maker in makers:
            named = isinstance(maker, ast.Tuple) and len(maker.elts) == 2 and isinstance(maker.elts[0], ast.Constant)
            inputs = [self.apply(maker.elts[1] if named else maker, inputs, cls)]
        return self.join(inputs)

    # Statements

    def run(self, body: list[ast.stmt], scope: _Scope) -> None:
        for statement in body:
            self.statement(statement, scope)

    def statement(self, node: ast.stmt, scope: _Scope) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.bind(target, node.value, scope)
        elif isinstance(node, ast.AugAssign):
            result = self.value(ast.BinOp(node.target, node.op, node.value), scope)
            self.set(node.target, result, scope)
        elif isinstance(node, ast.Return):
            result = self.value(node.value, scope)
            scope.returned += [] if result is None else [result]
        elif isinstance(node, ast.Expr):
            self.effect(node.value, scope)
        elif isinstance(node, ast.For):
            self.loop(node.target, node.iter, scope)
            self.run([*node.body, *node.orelse], scope)
        elif isinstance(node, ast.FunctionDef):
            scope.functions[node.name] = node
        elif isinstance(node, ast.If | ast.While | ast.With | ast.Try):
            self.run([*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])], scope)

    def effect(self, node: ast.expr, scope: _Scope) -> None:
        """A statement for its effect: x.add_(y) changes x, parts.append(y) adds to it."""
        result = self.value(node, scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            if node.func.attr == "append":
                result = self.join([scope.values.get(node.func.value.id), *(self.value(part, scope) for part in node.args)])
            if node.func.attr == "append" or node.func.attr.endswith("_"):
                self.set(node.func.value, result, scope)

    def bind(self, target: ast.expr, value: ast.expr | None, scope: _Scope) -> None:
        both = (
            isinstance(target, ast.Tuple | ast.List)
            and isinstance(value, ast.Tuple | ast.List)
            and len(target.elts) == len(value.elts)
        )
        if both:
            results = [self.value(part, scope) for part in value.elts]
            for part, result in zip(target.elts, results, strict=True):
                self.set(part, result, scope)
        else:
            self.set(target, self.value(value, scope), scope)

    def set(self, target: ast.expr, result: int | None, scope: _Scope) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for part, value in zip(target.elts, self.parts(result, len(target.elts)), strict=True):
                self.set(part, value, scope)
        elif isinstance(target, ast.Starred):
            self.set(target.value, result, scope)
        elif isinstance(target, ast.Name):
            scope.values[target.id] = result
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            scope.values[target.value.id] = self.join([scope.values.get(target.value.id), result])

    def loop(self, target: ast.expr, source: ast.expr, scope: _Scope) -> None:
        """Binds a loop's names: modules where it runs over members, values otherwise."""
        makers = self.makers(scope.cls) if scope.cls else {}
        parts = list(walk(source))
        # self.blocks and self.blocks.values() are run over; self.qkv(x) is called, self.qkv.weight is read.
        used = {id(part.func) for part in parts if isinstance(part, ast.Call)}
        used |= {id(part.value) for part in parts if isinstance(part, ast.Attribute) and part.attr not in _RUN_OVER}
        members = [
            makers[name] for part in parts if id(part) not in used and (name := self_attribute(part, scope.self_)) in makers
        ]
        names = [part for part in walk(target) if isinstance(part, ast.Name)]
        for name, maker in zip(reversed(names), reversed(members), strict=False):
            scope.modules[name.id] = maker
        if not members:
            self.set(target, self.value(source, scope), scope)

    # Expressions

    def value(self, node: ast.expr | None, scope: _Scope) -> int | None:
        """The node of an expression; None for what is no tensor: numbers, shapes, strings, parameters."""
        if isinstance(node, ast.Name):
            return scope.values.get(node.id)
        if isinstance(node, ast.Call):
            return self.call(node, scope)
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare):
            return self.arithmetic(node, scope)
        if isinstance(node, ast.Attribute):
            if node.attr in _NOT_TENSORS or self_attribute(node, scope.self_):
                return None
            whole = self.value(node.value, scope)
            return self.node(node.attr, [whole]) if node.attr in VALUES and whole is not None else whole
        if isinstance(node, ast.Subscript | ast.Starred):
            return self.value(node.value, scope)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            for part in node.generators:
                self.loop(part.target, part.iter, scope)
            return self.value(node.elt, scope)
        if isinstance(node, ast.Tuple):
            return self.together([self.value(part, scope) for part in node.elts])
        if isinstance(node, ast.List | ast.IfExp | ast.BoolOp | ast.Dict):
            return self.join([self.value(part, scope) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)])
        if isinstance(node, ast.NamedExpr):
            self.bind(node.target, node.value, scope)
            return self.value(node.target, scope)
        return None

    def arithmetic(self, node: ast.BinOp | ast.UnaryOp | ast.Compare, scope: _Scope) -> int | None:
        operator = node.ops[0] if isinstance(node, ast.Compare) else node.op
        parts = [self.value(part, scope) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        name = OPERATORS.get(type(operator).__name__)
        return self.join(parts) if name is None or not any(part is not None for part in parts) else self.node(name, parts)

    def call(self, node: ast.Call, scope: _Scope) -> int | None:
        inputs = [self.value(part, scope) for part in [*node.args, *(k.value for k in node.keywords)]]
        function = node.func
        if isinstance(function, ast.Name):
            return self.named_call(function.id, node, inputs, scope)
        if path := self.program.dotted(function, scope.values):
            return self.operator(operator_key(path, node.args, node.keywords), inputs)
        if isinstance(function, ast.Subscript | ast.Call):
            return self.member_call(function, inputs, scope)
        if not isinstance(function, ast.Attribute):
            return self.node(_HIDDEN, inputs)
        name = self_attribute(function, scope.self_)
        if name is not None and scope.cls is not None:
            own = methods(scope.cls).get(name)
            return self.enter(own, inputs, scope.cls) if own else self.member(name, inputs, scope)
        receiver = self.value(function.value, scope)
        if receiver is None and function.attr in self.program.attributes:
            return self.node(_HIDDEN, inputs) if any(part is not None for part in inputs) else None
        return self.operator(operator_key(function.attr), [receiver, *inputs])

    def named_call(self, name: str, node: ast.Call, inputs: list[int | None], scope: _Scope) -> int | None:
        if name in scope.modules:
            return self.apply(scope.modules[name], inputs, scope.cls)
        function = scope.functions.get(name) or self.program.functions.get(name)
        if function:
            return self.enter(function, inputs, None)
        path = self.program.dotted(node.func, scope.values)
        if path:
            return self.operator(operator_key(path, node.args, node.keywords), inputs)
        return self.join(inputs) if name not in _SIZE_CALLS else None

    def member_call(self, function: ast.Subscript | ast.Call, inputs: list[int | None], scope: _Scope) -> int | None:
        """self.layers[i](x), or nn.ReLU()(x)."""
        if isinstance(function, ast.Call):
            return self.apply(function, inputs, scope.cls)
        name = self_attribute(function.value, scope.self_)
        return self.member(name, inputs, scope) if name else self.node(_HIDDEN, inputs)

    def member(self, name: str, inputs: list[int | None], scope: _Scope) -> int | None:
        maker = self.makers(scope.cls).get(name) if scope.cls else None
        return self.apply(maker, inputs, scope.cls) if maker is not None else self.node(_HIDDEN, inputs)

    def operator(self, name: str, inputs: list[int | None]) -> int | None:
        if name in _SIZE_OPERATORS or name in CONSTANTS:
            return None
        if name in SEEN_THROUGH or not any(part is not None for part in inputs):
            # An operator on parameters alone is part of the state.
            return self.join(inputs)
        return self.node(name, inputs)
