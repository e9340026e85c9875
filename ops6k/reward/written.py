"""Where torch's operators are allowed: what a solution may say of them that the screen's allow-list for tasks does not know.

Three forms, each so narrow that nothing else can be reached by it; a source is judged with each put in plainer words.
"""

import ast
import keyword

import torch

_FILES = frozenset(("from_file", "save", "load"))
_OPERATORS = "torch.ops.aten."


class Plainer(ast.NodeTransformer):
    """A source's tree without them: what is not exactly such a form stays, and is refused as in a task.

    - torch.ops.aten.NAME.OVERLOAD(...), called on the spot, of an operator that makes new tensors and changes none
    - self.register_load_state_dict_post_hook(ModelNew.NAME), a method of its own: computes once what depends on the weights alone
    - getattr(..., "0"): a layer whose name no code could spell as an attribute, so none of Python's own has it
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _is_operator(node.func):
            return ast.copy_location(ast.Call(_plain("relu", node), node.args, node.keywords), node)
        if _prepares(node):
            return ast.copy_location(ast.Constant(None), node)
        if _is_oddly_named_layer(node):
            return ast.copy_location(ast.Subscript(node.args[0], node.args[1], ast.Load()), node)
        return node


def _plain(name: str, at: ast.AST) -> ast.expr:
    made = ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())
    return ast.fix_missing_locations(ast.copy_location(made, at))


def _is_operator(func: ast.expr) -> bool:
    dotted = _dotted(func)
    name, _, overload = dotted.removeprefix(_OPERATORS).partition(".")
    if not dotted.startswith(_OPERATORS) or not overload.isidentifier() or name in _FILES:
        return False
    found = getattr(getattr(torch.ops.aten, name, None), overload, None)
    return isinstance(found, torch._ops.OpOverload) and _makes_tensors(found)


def _makes_tensors(operator: torch._ops.OpOverload) -> bool:
    """Of the dispatcher, not TorchScript's alone; tensors out, none changed."""
    schema = operator._schema
    returned = bool(schema.returns) and all("Tensor" in str(value.type) for value in schema.returns)
    return torch._C._dispatch_has_kernel(operator.name()) and not schema.is_mutable and returned


def _dotted(node: ast.expr) -> str:
    """A chain of attributes that begins with a name; empty for any other, whose beginning would go unseen."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _prepares(node: ast.Call) -> bool:
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="self"), attr="register_load_state_dict_post_hook"),
            args=[ast.Attribute(value=ast.Name(id="ModelNew"), attr=name)],
            keywords=[],
        ):
            return not hasattr(torch.nn.Module, name)
    return False


def _is_oddly_named_layer(node: ast.Call) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name))], keywords=[]):
            return not name.isidentifier() or keyword.iskeyword(name)
    return False
