"""Fits a task's sizes to the target: predicted times spread log-uniformly, memory within bounds, every step a dry run.

Only what is like a batch grows or shrinks: the batch itself, then extents (image sides, sequence lengths); widths stay
those of real models. Runs candidate code on fake tensors: call it in a sandboxed child.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ops6k.fuse.composer.graph import Graph, Launch
from ops6k.fuse.composer.inputs import families
from ops6k.fuse.composer.probe import require_effects
from ops6k.fuse.composer.trial import Bed, Unfit, launches
from ops6k.fuse.composer.write import Writer, real_sizes
from ops6k.fuse.sources import place_in_run
from ops6k.records import Work
from ops6k.screen.dry_run import DryRun, dry_run_code
from ops6k.target import Target

ROUNDS = 4
FIRST_STEPS = 6
"""Of fixed-point iteration before the first dry run."""
CLOSE = 1.6
"""Predicted time over wanted time that is near enough: the prediction itself is off by more."""
SHORT_MS, CLOSE_BELOW = 2.0, 1.15
"""So short a task may not fall short of its goal by more: it would leave the screen's window."""
MAX_PEAK_GIB = 20.0
MAX_ELEMENTS = 2_000_000_000
"""Of an input or output: some kernels count in 32 bits."""
BATCH_CAP = {"b": 128, "b_flat": 1 << 22}
"""Above it extents grow first: nobody runs a thousand images where larger images do."""
EXTENT_GROWTH = 4.0
_TIME_STEP = math.sqrt(7) - 2
_TAIL_MS, _TAIL_SHARE = 60.0, 0.1


SAMPLE_BYTES, SAMPLE_FLOPS = 8e6, 3e7
"""What one forward of the check at real widths may move and compute: a few milliseconds of one core."""


@dataclass(frozen=True, slots=True)
class Fitted:
    code: str
    work: Work
    sizes: Mapping[str, int]


def wanted_ms(seed: int, index: int, target_ms: tuple[float, float]) -> float:
    """Predicted time that candidate number `index` is fitted to: log-uniform over the range, one in ten above it.

    Above it means up to 60 ms (or four times the range's end, where that is less): larger tasks cost more than they teach.
    """
    low, high = target_ms
    at = place_in_run(seed, index, _TIME_STEP)
    if at < 1 - _TAIL_SHARE:
        return low * (high / low) ** (at / (1 - _TAIL_SHARE))
    top = max(high, min(4 * high, _TAIL_MS))
    return high * (top / high) ** ((at - 1 + _TAIL_SHARE) / _TAIL_SHARE)


def fitted(graph: Graph, writer: Writer, target: Target, goal_ms: float) -> Fitted | str:
    """The task at sizes that are predicted to take about `goal_ms` on the target, or why there are none."""
    try:
        ratio = _first_ratio(launches(graph), writer.dtype, target, goal_ms)
    except Unfit as unfit:
        return str(unfit)
    sizes = scale(graph, real_sizes(graph), ratio, widths=False)
    best: Fitted | None = None
    for _ in range(ROUNDS):
        code = writer.code(sizes)
        ran = dry_run_code(code, target)
        if not isinstance(ran, DryRun):
            # A first guess may be too large for int32 counts or the like; anything else is a recipe's fault.
            return f"{ran.reason.value}: {ran.message}"
        peak_gib = ran.work.peak_bytes / 2**30
        largest = max(math.prod(shape) for shape in (*ran.input_shapes, *ran.output_shapes))
        room = min(min(MAX_PEAK_GIB, 0.4 * target.memory_gib) / max(peak_gib, 1e-9), MAX_ELEMENTS / max(largest, 1))
        best = Fitted(code, ran.work, sizes) if room >= 1 else best
        ratio = min(goal_ms / ran.work.predicted_ms, 0.95 * room)
        if 1 / CLOSE < ratio < (CLOSE if goal_ms > SHORT_MS else CLOSE_BELOW) and room >= 1:
            break
        scaled = scale(graph, sizes, ratio)
        if scaled == sizes:
            break
        sizes = scaled
    if best is None or (not 0.6 < best.work.predicted_ms / goal_ms < 1.7 and not _within_reach(best, goal_ms)):
        return "cannot be fitted"
    return best


def guessed_ms(found: Sequence[Launch], dtype: str, target: Target, ratio: float = 1.0) -> float:
    """Predicted time at `ratio` times the elements drawn, from the graph's launches: near the dry run's, without one."""
    share = 1.0 if dtype == "float32" else 0.5

    def seconds(launch: Launch) -> float:
        busy = max(share * launch.bytes_moved / (target.bandwidth_gbs * 1e9), launch.flops / target.rate(dtype))
        return max(ratio * busy, target.overhead_us * 1e-6) * target.slower(launch.operator)

    return 1e3 * sum(map(seconds, found))


def _first_ratio(found: Sequence[Launch], dtype: str, target: Target, goal_ms: float) -> float:
    """Times the elements drawn that the goal takes: launches bound by their overhead do not grow at first."""
    ratio = 1.0
    for _ in range(FIRST_STEPS):
        ratio *= goal_ms / guessed_ms(found, dtype, target, ratio)
    return ratio


def unsound_at_size(graph: Graph, found: Fitted) -> str | None:
    """What a verifier would miss once widths are real and batch and extents as large as a few milliseconds allow.

    The trial run's small twins do not show what concentrates, saturates or overflows over thousands of elements.
    """
    ratio = min(1.0, SAMPLE_BYTES / max(found.work.bytes_moved, 1), SAMPLE_FLOPS / max(found.work.flops, 1))
    try:
        require_effects(graph, Bed.of(graph, scale(graph, found.sizes, ratio, widths=False)))
    except Unfit as unfit:
        return str(unfit)
    return None


def _within_reach(best: Fitted, goal_ms: float) -> bool:
    """Memory bound before the wanted time was reached: kept if it is at least not below the range."""
    return goal_ms > best.work.predicted_ms >= 1.2


def scale(graph: Graph, sizes: Mapping[str, int], ratio: float, *, widths: bool = True) -> dict[str, int]:
    """Sizes with about `ratio` times the elements: the batch first, then extents, last (only down) widths."""
    new = dict(sizes)
    batch = next((size for size in graph.sizes if size.letter in BATCH_CAP), None)
    if batch is not None:
        wish = new[batch.name] * ratio
        new[batch.name] = max(1 if batch.letter == "b" else 8, min(BATCH_CAP[batch.letter], _round(wish)))
        ratio = wish / new[batch.name]
    extents = [size for size in graph.sizes if families()[size.letter].scale == "extent"]
    if extents and not 0.8 < ratio < 1.25:
        each = ratio ** (1 / len(extents))
        for size in extents:
            grown = min(new[size.name] * each, size.real * EXTENT_GROWTH)
            new[size.name] = max(8, _round(grown, step=4))
            ratio *= sizes[size.name] / new[size.name]
    if batch is not None and ratio > 1.25:
        new[batch.name] = _round(new[batch.name] * ratio)
    if ratio < 0.8 and widths:
        _narrow(graph, new, ratio)
    return new


def _narrow(graph: Graph, sizes: dict[str, int], ratio: float) -> None:
    """Widths step down to smaller ones of their family: weights alone may take longer than is wanted."""
    for size in graph.sizes:
        family = families()[size.letter]
        if family.scale == "width":
            wish = sizes[size.name] * math.sqrt(ratio)
            sizes[size.name] = max((real for real in family.real if real <= wish), default=min(family.real))


def _round(value: float, step: int = 1) -> int:
    """Whole, a multiple of `step`, and of two figures or a power of two where it is large."""
    if value >= 64:
        step = max(step, 2 ** (int(math.log2(value)) - 4))
    return max(step, round(value / step) * step)
