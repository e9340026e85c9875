"""What the agent sees: a task's graph, a task as a vector, the attempts so far, and the decisions of the plan in hand.

Standard library and numpy only. The graph and the task's vector never change in an episode and are made once a task.
"""

import math
from collections.abc import Sequence

import numpy as np

from ops6k.records import Task
from ops6k.train.nodes import BUCKETS, DTYPES, GROUP_NAMES, NODE_FEATURES, bucket_of, clipped, graph, group_of, log2, log10
from ops6k.train.nodes import LIMIT as LIMIT
from ops6k.train.plans import ACTIONS, CHANNELS_LAST, REWRITES, STOP, Plan, Trait, traits_of
from ops6k.train.sketch import MOST_NODES, Sketch
from ops6k.train.times import PlanStatus, PlanTime

ATTEMPTS = 4
"""At most so many attempts in an episode."""

TASK_FEATURES: tuple[str, ...] = (
    "bytes_moved", "io_bytes", "flops", "peak_bytes", "intensity", "predicted_ms", "sol_ms", "headroom", "fusable",
    "eager_ms", "compiled_ms", "compiled_ratio", "eager_overhead", "compiled_overhead", "launch_bound", "depth", "operators", "transformers",
    *(f"dtype_{name}" for name in DTYPES[:3]),
    *(f"trait_{trait.value}" for trait in Trait),
    *(f"count_{name}" for name in GROUP_NAMES),
    *(f"name_{bucket}" for bucket in range(BUCKETS)),
    "nodes", "weights", "images",
    *(f"bytes_{name}" for name in GROUP_NAMES),
    *(f"rewrite_{name}" for name in REWRITES),
)  # fmt: skip
"""Of `flat`, the vector that trees read as well."""

DECISIONS = tuple(name for name in ACTIONS if name != STOP)
BEFORE = (*REWRITES, CHANNELS_LAST)
"""The decisions that a plan can have before its backend."""
ATTEMPT_FEATURES: tuple[str, ...] = (
    *(f"{name}.{what}" for name in DECISIONS for what in ("tried", "milestone", "ratio_compiled")),
    "attempts_left", "best", "best_ratio_eager", "best_ratio_compiled",
)  # fmt: skip

NAMES = {"nodes": NODE_FEATURES, "task": TASK_FEATURES, "attempts": ATTEMPT_FEATURES, "decided": BEFORE}
"""What a policy was trained to see; an agent trained for other features is refused."""
SHAPES: dict[str, tuple[int, ...]] = {
    "nodes": (MOST_NODES, len(NODE_FEATURES)),
    "edges": (MOST_NODES, MOST_NODES),
    "node_mask": (MOST_NODES,),
    "task": (len(TASK_FEATURES),),
    "attempts": (len(ATTEMPT_FEATURES),),
    "decided": (len(BEFORE),),
}
"""Of an observation's arrays."""
BINARY = ("edges", "node_mask", "decided")
"""Those of 0 and 1, int8; the others are float32 within LIMIT."""

_NUMBER = {name: number for number, name in enumerate(DECISIONS)}


def observation(
    task: Task, sketch: Sketch, tried: Sequence[PlanTime], best: int, decided: Sequence[str]
) -> dict[str, np.ndarray]:
    """Everything, by name as in SHAPES. best: the best milestone so far, 0 before any; decided: of the plan in hand."""
    return fixed(task, sketch) | changing(tried, best, decided)


def fixed(task: Task, sketch: Sketch) -> dict[str, np.ndarray]:
    """The part of an observation that is the task's alone."""
    return graph(sketch) | {"task": flat(task, sketch)}


def changing(tried: Sequence[PlanTime], best: int, decided: Sequence[str]) -> dict[str, np.ndarray]:
    """The part of an observation that differs from step to step."""
    return {
        "attempts": attempts_vector(tried, best),
        "decided": decided_vector(decided),
    }


def decided_vector(decided: Sequence[str]) -> np.ndarray:
    """Which decisions the plan in hand has, (len(BEFORE),) int8."""
    return np.array([name in decided for name in BEFORE], np.int8)


def flat(task: Task, sketch: Sketch) -> np.ndarray:
    """The task and its sketch as one vector, (len(TASK_FEATURES),) float32."""
    work, timing = task.work, task.timing
    traits = traits_of(task)
    values = [
        log10(work.bytes_moved, 7), log10(work.io_bytes, 7), log10(work.flops, 8) / 2, log10(work.peak_bytes, 7),
        log2(max(work.flops, 1), work.io_bytes) / 4, log10(work.predicted_ms), log10(work.sol_ms),
        log2(timing.eager_ms, work.sol_ms) / 2, log2(work.bytes_moved, work.io_bytes),
        log10(timing.eager_ms), log10(timing.compiled_ms), 2 * log2(timing.eager_ms, timing.compiled_ms),
        log2(timing.eager_wall_ms, timing.eager_ms), log2(timing.compiled_wall_ms, timing.compiled_ms), float(timing.launch_bound),
        (task.depth - 3) / 2, math.log2(1 + len(work.operators)) - 2, float(task.data_source == "transformers"),
        *(float(task.dtype == name) for name in DTYPES[:3]),
        *(float(trait in traits) for trait in Trait),
        *_counts(work.operators),
        *_sketched(sketch),
    ]  # fmt: skip
    return clipped(values)


def attempts_vector(tried: Sequence[PlanTime], best: int) -> np.ndarray:
    """For each decision whether and how well it was tried, (len(ATTEMPT_FEATURES),) float32."""
    seen = np.zeros((len(DECISIONS), 3), np.float32)
    for row in tried:
        mine = (1.0, row.milestone / 3, _log_ratio(row, row.ratio_compiled))
        for name in Plan.named(row.plan).decisions:
            before = seen[_NUMBER[name]]
            seen[_NUMBER[name]] = mine if not before[0] or mine[1:] > tuple(before[1:]) else before
    ratios = [
        max((_log_ratio(row, getattr(row, name)) for row in tried), default=0.0) for name in ("ratio_eager", "ratio_compiled")
    ]
    return np.concatenate([clipped(seen.ravel()), clipped([1 - len(tried) / ATTEMPTS, best / 3, *ratios])])


def _log_ratio(row: PlanTime, ratio: float | None) -> float:
    return 2 * math.log2(ratio) if row.status is PlanStatus.CORRECT and ratio else 0.0


def _counts(operators: Sequence[str]) -> list[float]:
    """Operators by group, then by bucket of their names."""
    groups, buckets = [0] * len(GROUP_NAMES), [0] * BUCKETS
    for name in operators:
        groups[group_of(name)] += 1
        buckets[bucket_of(name)] += 1
    return [math.log2(1 + count) for count in (*groups, *buckets)]


def _sketched(sketch: Sketch) -> list[float]:
    """What the sketch adds: its size, where the bytes go, and which rewrites change something."""
    whole = max(sum(node.bytes for node in sketch.nodes), 1)
    shares = [0.0] * len(GROUP_NAMES)
    for node in sketch.nodes:
        shares[group_of(node.operator)] += node.bytes / whole
    weights = sum(node.operator == "weight" for node in sketch.nodes)
    sizes = [math.log2(1 + len(sketch.nodes)) / 3, math.log2(1 + weights) / 2, float(sketch.images)]
    return [*sizes, *shares, *(float(name in sketch.rewrites) for name in REWRITES)]
