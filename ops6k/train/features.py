"""What the agent sees: a task as a vector of floats, and the attempts so far as another.

Standard library and numpy only. Every value is scaled by hand to about -1..1 and clipped to LIMIT, so that no statistics
of the training rows have to travel with the weights.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from ops6k.records import Task
from ops6k.train.plans import PLANS, Trait, applicable, traits_of
from ops6k.train.times import PlanStatus, PlanTime

LIMIT = 8.0
ATTEMPTS = 4
"""At most so many attempts in an episode."""

# In this order, the first that matches counts: names of ATen operators as their schemas spell them.
GROUPS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("convolution", r"convolution"),
        ("attention", r"attention"),
        ("recurrent", r"lstm|gru|rnn"),
        ("matmul", r"^\w*(?:mm|mv)$|^dot$"),
        ("norm", r"norm"),
        ("softmax", r"softmax|logsumexp"),
        ("pool", r"pool"),
        ("scan", r"^cum|_cum|^logcum|sort|topk|median|mode|kthvalue|unique"),
        ("index", r"index|gather|scatter|embedding|take|roll|flip|_pad|upsample|grid_"),
        ("reduction", r"sum|mean|^a?max$|^a?min$|^aminmax$|var|std|prod|argm|^any$|^all$"),
        ("copy", r"copy|clone|^cat$|stack|^full|^zeros|^ones|fill"),
    )
)

DTYPES = ("float32", "bfloat16", "float16")

TASK_FEATURES: tuple[str, ...] = (
    "bytes_moved", "io_bytes", "flops", "peak_bytes", "intensity", "predicted_ms", "sol_ms", "headroom", "fusable",
    "eager_ms", "compiled_ms", "compiled_ratio", "eager_overhead", "compiled_overhead", "launch_bound", "depth", "operators", "transformers",
    *(f"dtype_{name}" for name in DTYPES),
    *(f"trait_{trait.value}" for trait in Trait),
    *(f"count_{name}" for name, _ in GROUPS), "count_pointwise",
)  # fmt: skip

ATTEMPT_FEATURES: tuple[str, ...] = (
    *(f"{plan.name}.{what}" for plan in PLANS for what in ("applies", "tried", "milestone", "ratio_eager", "ratio_compiled")),
    "attempts_left",
    "best",
)

NAMES = TASK_FEATURES + ATTEMPT_FEATURES


def task_vector(task: Task) -> np.ndarray:
    """The task alone, (len(TASK_FEATURES),) float32."""
    work, timing = task.work, task.timing
    traits = traits_of(task)
    counts = _counts(work.operators)
    values = [
        _log10(work.bytes_moved, 7), _log10(work.io_bytes, 7), _log10(work.flops, 8), _log10(work.peak_bytes, 7),
        _log2(work.flops, work.io_bytes) / 4, _log10(work.predicted_ms), _log10(work.sol_ms),
        _log2(timing.eager_ms, work.sol_ms) / 2, _log2(work.bytes_moved, work.io_bytes),
        _log10(timing.eager_ms), _log10(timing.compiled_ms), 2 * _log2(timing.eager_ms, timing.compiled_ms),
        _log2(timing.eager_wall_ms, timing.eager_ms), _log2(timing.compiled_wall_ms, timing.compiled_ms), float(timing.launch_bound),
        (task.depth - 3) / 2, math.log2(1 + len(work.operators)) - 2, float(task.data_source == "transformers"),
        *(float(task.dtype == name) for name in DTYPES),
        *(float(trait in traits) for trait in Trait),
        *(math.log2(1 + count) for count in counts),
    ]  # fmt: skip
    return _clipped(values)


def attempts_vector(task: Task, tried: Sequence[PlanTime], best: int) -> np.ndarray:
    """Which plans apply, the attempts so far and what came of them, (len(ATTEMPT_FEATURES),) float32. best: 0 before any."""
    by_plan = {row.plan: row for row in tried}
    fits = {plan.name for plan in applicable(task)}
    values: list[float] = []
    for plan in PLANS:
        row = by_plan.get(plan.name)
        values.append(float(plan.name in fits))
        values += [0.0] * 4 if row is None else _attempt(row)
    return _clipped([*values, 1 - len(tried) / ATTEMPTS, best / 3])


def observation(task: Task, tried: Sequence[PlanTime], best: int) -> np.ndarray:
    """Both, (len(NAMES),) float32."""
    return np.concatenate([task_vector(task), attempts_vector(task, tried, best)])


def _attempt(row: PlanTime) -> list[float]:
    correct = row.status is PlanStatus.CORRECT
    ratios = [2 * math.log2(ratio) if correct and ratio else 0.0 for ratio in (row.ratio_eager, row.ratio_compiled)]
    return [1.0, row.milestone / 3, *ratios]


def _counts(operators: Sequence[str]) -> list[int]:
    """Operators by group, in the order of GROUPS; the last number is the rest, pointwise for the most part."""
    counts = [0] * (len(GROUPS) + 1)
    for name in operators:
        counts[next((i for i, (_, pattern) in enumerate(GROUPS) if pattern.search(name.lower())), -1)] += 1
    return counts


def _log10(value: float, centre: float = 0.0) -> float:
    return math.log10(max(value, 1e-6)) - centre


def _log2(above: float, below: float) -> float:
    return math.log2(max(above, 1e-6) / max(below, 1e-6))


def _clipped(values: Sequence[float]) -> np.ndarray:
    return np.clip(np.asarray(values, dtype=np.float32), -LIMIT, LIMIT)
