"""A second opinion on a data set: `python tests/check_set.py data/release/ops6k [--rows 100] [--seed 1]`.

Written apart from ops6k, of which it imports nothing, and simple on purpose. Of a random sample: the code parses and has the parts of a
KernelBench task, every label is used in it, and at sizes shrunk to fit a CPU it repeats and answers to its inputs. Of all rows: no
two are the same program but for names. Runs the rows' code unconfined: for a set of one's own.
"""

import argparse
import ast
import math
import random
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import torch

PARTS = {"Model", "get_inputs", "get_init_inputs"}
SHRINK = (16, 8, 4, 2, 1)
"""Large module-level sizes are divided by the first of these with which the task still runs."""
LARGE = 64
MOST_ELEMENTS = 4e8
CHANGED, TOLERANCE = 0.01, 1e-2
WRITTEN = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div, "pow": ast.Pow, "matmul": ast.MatMult, "remainder": ast.Mod,
    "floor_divide": ast.FloorDiv, "neg": ast.USub, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq,
    "logical_and": ast.BitAnd, "logical_or": ast.BitOr, "logical_xor": ast.BitXor, "bitwise_and": ast.BitAnd, "bitwise_or": ast.BitOr,
    "bitwise_xor": ast.BitXor, "bitwise_not": ast.Invert, "logical_not": ast.Invert,
}  # fmt: skip
"""Operators that may be written as one."""

SPELT = {"bcewithlogits": "binarycrossentropywithlogits", "bce": "binarycrossentropy", "gammaln": "lgamma"}
"""Other words for the same, as _plain gives them."""


def sources(folder: Path) -> list[tuple[str, str, list[str]]]:
    """(task_id, code, ops) of every row of every split."""
    files = sorted(folder.glob("data/*.parquet")) or sorted(folder.rglob("*.parquet"))
    return [
        (row["task_id"], row["code"], row["ops"])
        for file in files
        for row in pq.read_table(file, columns=["task_id", "code", "ops"]).to_pylist()
    ]


def missing_parts(tree: ast.Module) -> set[str]:
    return PARTS - {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def unused_labels(tree: ast.Module, labels: Sequence[str]) -> list[str]:
    """Labels that are neither called, in any of an operator's spellings (nn.GLU, F.glu), nor written as an operator."""
    nodes = list(ast.walk(tree))
    named = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    named |= {node.id for node in nodes if isinstance(node, ast.Name)}
    plain = {_plain(name) for name in named}
    written = {type(part) for node in nodes for part in _operators(node)}
    return [
        label
        for label in labels
        if (word := label.rsplit(".", 1)[-1]) not in named and _plain(word) not in plain and WRITTEN.get(word) not in written
    ]


def _plain(name: str) -> str:
    """A name as it is spelt by module, function and method alike."""
    plain = name.lower().replace("_", "").removesuffix("loss").removesuffix("activation")
    plain = f"a{plain[3:]}" if plain.startswith("arc") else plain
    return SPELT.get(plain, plain)


def _operators(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.AugAssign):
        yield node.op
    elif isinstance(node, ast.Compare):
        yield from node.ops


class _Renamed(ast.NodeTransformer):
    """Names by order of appearance, without docstrings and annotations."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def _name(self, name: str) -> str:
        return self.names.setdefault(name, f"n{len(self.names)}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node if node.id in ("torch", "nn", "F") else ast.Name(self._name(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._name(node.arg))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self._name(node.name)
        node.body = _without_docstring(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name, node.returns = self._name(node.name), None
        node.body = _without_docstring(node.body)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        own = isinstance(node.value, ast.Name) and node.value.id == self.names.get("self")
        return ast.Attribute(node.value, self._name(node.attr) if own else node.attr, node.ctx)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first, *rest = body
    plain = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return rest if plain and rest else body


def plain_form(code: str) -> str:
    """The program without names, comments and layout; its numbers stay."""
    return ast.dump(_Renamed().visit(ast.parse(code)))


def shrunk(code: str, by: int) -> str:
    """Module-level integers of LARGE or more divided, the first one (the batch) down to at most LARGE."""
    tree, first = ast.parse(code), True
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, int) and by > 1:
            size = node.value.value
            least = min(size, LARGE) if first else size
            node.value.value = max(least // by, 2) if first else max(size // by, LARGE // by) if size >= LARGE else size
            first = False
    return ast.unparse(tree)


def outputs_of(code: str) -> list[tuple[torch.Tensor, ...]]:
    """For one model: two calls with the same inputs, one with others. Raises whatever the code raises."""
    module = types.ModuleType("checked")
    exec(compile(code, "task", "exec"), module.__dict__)
    torch.manual_seed(1)
    model, inputs = module.Model(*module.get_init_inputs()).eval(), module.get_inputs()
    if sum(x.numel() for x in inputs if isinstance(x, torch.Tensor)) > MOST_ELEMENTS:
        raise MemoryError("too large for this check")
    torch.manual_seed(2)
    others = module.get_inputs()
    with torch.no_grad():
        answers = [model(*inputs), model(*inputs), model(*others)]
    return [(answer,) if isinstance(answer, torch.Tensor) else tuple(answer) for answer in answers]


def faults(code: str, labels: Sequence[str]) -> list[str]:
    """What is wrong with one row."""
    tree = ast.parse(code)
    found = [f"has no {name}" for name in sorted(missing_parts(tree))]
    found += [f"does not use {label}" for label in unused_labels(tree, labels)]
    said = "was never tried"
    for by in SHRINK:
        try:
            first, again, other = outputs_of(shrunk(code, by))
        except (RuntimeError, ValueError, IndexError, AssertionError, TypeError, MemoryError) as error:
            said = f"does not run: {error}"
            continue
        return [*found, *_answers(first, again, other)]
    return [*found, said]


def _answers(first: Sequence[torch.Tensor], again: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> Iterator[str]:
    for number, (a, b, c) in enumerate(zip(first, again, other, strict=True)):
        a, b, c = (torch.view_as_real(x) if x.is_complex() else x for x in (a, b, c))
        a, b, c = a.double(), b.double(), c.double()
        scale = float(a.abs().max()) if a.numel() else 1.0
        if not math.isfinite(scale):
            yield f"output {number} is not finite"
        if not torch.allclose(a, b, rtol=1e-2, atol=1e-4 * max(scale, 1e-6), equal_nan=True):
            yield f"output {number} does not repeat"
        if float(((a - c).abs() > TOLERANCE + TOLERANCE * a.abs()).double().mean()) < CHANGED:
            yield f"output {number} does not answer to its inputs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows, count = sources(given.folder), 0
    if not rows:
        print(f"{given.folder}: no rows")
        return 1
    seen: dict[str, str] = {}
    for task_id, code, _ in rows:
        if (form := plain_form(code)) in seen:
            print(f"{task_id}: the same program as {seen[form]}")
            count += 1
        seen[form] = task_id
    for task_id, code, labels in random.Random(given.seed).sample(rows, min(given.rows, len(rows))):
        for fault in faults(code, labels):
            print(f"{task_id}: {fault}", flush=True)
            count += 1
    print(f"{len(rows)} rows compared, {min(given.rows, len(rows))} run, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
