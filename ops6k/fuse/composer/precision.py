"""Reduced precision in a task's source: every weight is made in the dtype, as `nn.Linear(a, b, dtype=torch.bfloat16)`."""

import ast
import inspect
from functools import cache

_FACTORIES = frozenset("rand randn ones zeros full linspace tensor".split())


def with_dtype(source: str, dtype: str) -> str:
    """The source with `dtype=` given to each torch factory and each module that takes one; layout and comments stay."""
    lines = source.split("\n")
    # From the end, so that earlier positions stay right.
    for line, column, has_arguments in sorted(_closings(ast.parse(source)), reverse=True):
        separator = ", " if has_arguments else ""
        lines[line] = f"{lines[line][:column]}{separator}dtype=torch.{dtype}{lines[line][column:]}"
    return "\n".join(lines)


def _closings(tree: ast.Module) -> set[tuple[int, int, bool]]:
    """Line, column of the closing bracket, and whether there are arguments, of each call that takes the dtype."""
    return {
        (node.end_lineno - 1, node.end_col_offset - 1, bool(node.args or node.keywords))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
        if _takes_dtype(node.func.value.id, node.func.attr) and all(keyword.arg != "dtype" for keyword in node.keywords)
    }


@cache
def _takes_dtype(root: str, name: str) -> bool:
    import torch

    if root == "torch":
        return name in _FACTORIES
    module = getattr(torch.nn, name, None) if root == "nn" else None
    return inspect.isclass(module) and "dtype" in inspect.signature(module).parameters and name != "Parameter"
