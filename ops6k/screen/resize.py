"""A task outside the window, made larger or smaller by its size constants: a new source, never an edit of the old record.

Module-level integer constants are tried one after the other, batch-like ones first (they leave the operators' own shapes
alone); the dry run says what each change would cost, and what was measured corrects the dry run.
"""

import ast
import math
from collections.abc import Iterator

from ops6k.screen.dry_run import DryRun, dry_run_code
from ops6k.screen.instances import set_precision
from ops6k.store import from_plain
from ops6k.target import Target

BATCH_LIKE = (
    "batch",
    "bs",
    "rows",
    "tokens",
    "num_samples",
    "n_samples",
    "seq",
    "length",
    "frames",
    "points",
    "height",
    "width",
    "size",
)
CLOSE = 1.5
"""A prediction within this factor of what is wanted is close enough to stop."""


def resize_candidate(payload: dict) -> dict:
    """{code, target, wanted_ms, correction, memory_gib} -> {"code": resized source or None}. In a sandboxed child."""
    target = from_plain(Target, payload["target"])
    set_precision(target)
    return {"code": resized(payload["code"], target, payload["wanted_ms"], payload["correction"], payload["memory_gib"])}


def resized(code: str, target: Target, wanted_ms: float, correction: float, memory_gib: float) -> str | None:
    """The source with one or two size constants changed so that predicted_ms * correction comes near wanted_ms; None where
    no constant does. correction: measured over predicted time of the task as it stands."""
    best, best_error = None, _error(dry_run_code(code, target), wanted_ms, correction, memory_gib)
    for _ in range(2):
        for attempt in list(_variants(best or code, target, wanted_ms, correction)):
            error = _error(dry_run_code(attempt, target), wanted_ms, correction, memory_gib)
            if error < best_error - 0.05:
                best, best_error = attempt, error
            if best_error < math.log(CLOSE):
                return best
    return best


def _error(found: object, wanted_ms: float, correction: float, memory_gib: float) -> float:
    """Distance of the prediction from what is wanted, as a logarithm; infinite where it does not run or fit."""
    if not isinstance(found, DryRun) or found.work.peak_bytes > memory_gib * 2**30:
        return math.inf
    return abs(math.log(max(found.work.predicted_ms * correction, 1e-6) / wanted_ms))


def _variants(code: str, target: Target, wanted_ms: float, correction: float) -> Iterator[str]:
    found = dry_run_code(code, target)
    if not isinstance(found, DryRun):
        # Over the memory limit is still a DryRun; what does not run at all cannot be resized.
        return
    factor = wanted_ms / max(found.work.predicted_ms * correction, 1e-6)
    for name in size_constants(code):
        for power in (1.0, 0.5):  # a constant may enter the work once or twice (an image's side)
            changed = with_scaled(code, name, factor**power)
            if changed != code:
                yield changed


def size_constants(code: str) -> list[str]:
    """Module-level names assigned one integer above 1 that get_inputs reads, batch-like names first."""
    tree = ast.parse(code)
    values = {name: node.value for name, node in _assignments(tree) if node.value > 1}
    read = [
        n.id
        for f in tree.body
        if isinstance(f, ast.FunctionDef) and f.name == "get_inputs"
        for n in ast.walk(f)
        if isinstance(n, ast.Name) and n.id in values
    ]
    order = list(dict.fromkeys(read))
    return sorted(order, key=lambda name: (_rank(name), order.index(name)))


def _rank(name: str) -> int:
    return next((i for i, word in enumerate(BATCH_LIKE) if word in name.lower()), len(BATCH_LIKE))


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int:
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))


def with_scaled(code: str, name: str, factor: float) -> str:
    """The source with the constant's literal multiplied, kept a multiple of 8 where it was one."""
    literal = next(value for found, value in _assignments(ast.parse(code)) if found == name)
    scaled = max(1, round(literal.value * factor))
    if literal.value % 8 == 0:
        scaled = max(8, round(scaled / 8) * 8)
    lines = code.splitlines(keepends=True)
    line = lines[literal.lineno - 1].encode()
    lines[literal.lineno - 1] = (line[: literal.col_offset] + str(scaled).encode() + line[literal.end_col_offset :]).decode()
    return "".join(lines)
