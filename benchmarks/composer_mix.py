"""`python benchmarks/composer_mix.py [COUNT]`: what the composer's tasks are made of, and which harvested operators they use.

Composes COUNT tasks for the H200 as params.yaml says and counts, in the source that a user reads: depth, dtype, inputs and outputs,
branches, parameters, layouts, styles, predicted times; then a row a category of the harvest: operators there, operators that the
composer knows, operators used here. Structure is read from the code, not from the composer's own graph.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from ops6k import labels, params, target
from ops6k.fuse.composer.batch import Composer, Proposal, warm_up
from ops6k.fuse.composer.recipe import recipes
from ops6k.fuse.llm.prompts import catalogue
from ops6k.fuse.sources import wanted

ROOT = Path(__file__).resolve().parents[1]
BUCKETS_MS = (1.2, 2, 3, 5, 8, 15, 30, 60, 100)


def features(code: str) -> Iterator[str]:
    """What a reader would notice in one task."""
    tree = ast.parse(code)
    (model,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model")
    methods = {node.name: node for node in model.body if isinstance(node, ast.FunctionDef)}
    forward = methods["forward"]
    arguments = [argument.arg for argument in forward.args.args[1:]]
    reads = Counter(node.id for node in ast.walk(forward) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    stores = Counter(node.id for node in ast.walk(forward) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    inputs = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "get_inputs")
    drawn = ast.unparse(inputs)
    returned = next(node for node in ast.walk(forward) if isinstance(node, ast.Return))
    found = {
        "two or more inputs": len(arguments) > 1,
        "three or more inputs": len(arguments) > 2,
        "several outputs": isinstance(returned.value, ast.Tuple),
        "a value read twice (residual, branch, shared part)": any(
            reads[name] > 1 for name in (*arguments, *stores) if stores[name] <= 1 and name not in ("torch", "F", "nn")
        ),
        "an input that is no random float (integers, mask)": any(word in drawn for word in ("randint", "> 0", "randperm", "< 0")),
        "an input not contiguous": any(
            word in drawn for word in ("transpose", "permute", ".mT", ".T)", "[:, ::", "movedim", "::2")
        ),
        "uniform inputs": "torch.rand(" in drawn,
        "no __init__": "__init__" not in methods,
        "parameters of its own": "nn.Parameter" in code or "register_buffer" in code,
        "modules in __init__": "__init__" in methods
        and any(word in ast.unparse(methods["__init__"]) for word in ("nn.", "(self"))
        and "= nn." in ast.unparse(methods["__init__"]),
        "F.* in forward": "F." in ast.unparse(forward),
        "a helper class or function": sum(isinstance(node, ast.ClassDef | ast.FunctionDef) for node in tree.body) > 3,
        "type hints": bool(forward.args.args[1:] and forward.args.args[1].annotation),
        "comments": "#" in code,
        "docstring": ast.get_docstring(model) is not None,
        "one expression": len(forward.body) == 1 or (len(forward.body) == 2 and ast.get_docstring(forward) is not None),
        "an odd size": any(
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, int)
            and node.value.value % 8
            for node in tree.body
        ),
    }
    return (name for name, there in found.items() if there)


def composed(count: int) -> list[Proposal]:
    build = params.load(ROOT / "params.yaml", preset="full")
    composer = Composer(target.load(ROOT / "data/targets/h200.yaml"), build.fuse.target_ms)
    warm_up()
    found = [composer.one(wanted(build.mix, build.seed, index)) for index in range(count)]
    return [proposal for proposal in found if proposal.candidate is not None]


def _shares(title: str, counts: Counter, total: int) -> None:
    print(f"\n{title}")
    for name, number in counts.items():
        print(f"  {number / total:6.1%}  {name}")


def _buckets(times: Iterable[float]) -> Counter:
    counts: Counter[str] = Counter()
    for low, high in zip((0, *BUCKETS_MS), (*BUCKETS_MS, float("inf")), strict=True):
        counts[f"{low:g} to {high:g} ms"] = 0
    for time in times:
        low, high = next((a, b) for a, b in zip((0, *BUCKETS_MS), (*BUCKETS_MS, float("inf")), strict=True) if a <= time < b)
        counts[f"{low:g} to {high:g} ms"] += 1
    return counts


def coverage(used: Iterable[str]) -> None:
    """Operators by category of the harvest, spellings of one operator counted once."""
    harvested: dict[str, set[str]] = defaultdict(set)
    category = {}
    for operator in catalogue(ROOT / "seed_ops"):
        if operator.usable and not operator.stochastic:
            name = labels.key(operator.name) if operator.library == "torch" else operator.name
            kind = operator.category if operator.library == "torch" else "transformers"
            harvested[kind].add(name)
            category[name] = kind
    known = {_key(recipe.op) for recipe in recipes()}
    here = {_key(op) for op in used}
    print("\n| category | harvested | composer knows | used here |\n|---|---:|---:|---:|")
    for kind in sorted(harvested, key=lambda kind: -len(harvested[kind])):
        print(f"| {kind} | {len(harvested[kind])} | {len(harvested[kind] & known)} | {len(harvested[kind] & here)} |")
    beside = {op for op in known if op not in category}
    print(f"| (no operator of the harvest) | | {len(beside)} | {len(beside & here)} |")


def _key(label: str) -> str:
    return label if label.startswith("transformers.") else labels.key(label)


def main(count: int) -> None:
    torch.set_num_threads(1)
    proposals = composed(count)
    made = [proposal.candidate for proposal in proposals]
    total = len(made)
    print(f"{total} tasks of {count}, {len({_key(op) for one in made for op in one.ops})} operators")
    _shares("depth", Counter({depth: sum(one.depth == depth for one in made) for depth in range(1, 6)}), total)
    _shares("dtype", Counter(one.dtype for one in made), total)
    _shares("library", Counter("transformers" if one.data_source == "transformers" else "torch" for one in made), total)
    seen = Counter(feature for one in made for feature in features(one.code))
    _shares("in the code", Counter(dict(seen.most_common())), total)
    _shares("predicted time", _buckets(proposal.predicted_ms for proposal in proposals), total)
    coverage(op for one in made for op in one.ops)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
