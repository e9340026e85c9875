"""Eager and compiled times of one task, paired and interleaved, with a bootstrap interval.

On a GPU: device time by events and wall time by the clock, the L2 cache flushed before each run; the caller has the device to itself.
On a CPU both are wall time.
"""

import time
from collections.abc import Callable

import numpy as np
import torch

from ops6k.records import Timing

MIN_REPEATS, MAX_REPEATS = 7, 20
NARROW = 0.04
"""Stop when the interval's width is this share of the median."""
BUDGET_S = 2.0
FLUSH_BYTES = 128 * 2**20
"""More than twice the L2 cache of the largest GPU at hand."""
LAUNCH_BOUND = 1.5
"""Wall time over device time from which launches, not work, take the time."""


def one_run(run: Callable[[], object], device: str, flush: torch.Tensor | None) -> tuple[float, float]:
    """Milliseconds of one call: device time, wall time."""
    if device != "cuda":
        began = time.perf_counter()
        run()
        elapsed = 1e3 * (time.perf_counter() - began)
        return elapsed, elapsed
    flush.zero_()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    began = time.perf_counter()
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end), 1e3 * (time.perf_counter() - began)


def median_interval(values: np.ndarray, *, seed: int = 0) -> tuple[float, float]:
    """Bootstrap interval (95 %) of the median; values: (n,)."""
    draws = np.random.default_rng(seed).choice(values, size=(1000, len(values)))
    low, high = np.quantile(np.median(draws, axis=1), [0.025, 0.975])
    return float(low), float(high)


def ratio_interval(above: np.ndarray, below: np.ndarray) -> tuple[float, float, float]:
    """Median of the paired ratios above / below, and the ends of its 95 % bootstrap interval. above, below: (repeats,)."""
    ratios = above / below
    middle = float(np.median(ratios))
    low, high = median_interval(ratios)
    return middle, min(low, middle), max(high, middle)


def interleaved(runs: list[Callable[[], object]], device: str, *, max_repeats: int = MAX_REPEATS) -> np.ndarray:
    """Times of each callable, interleaved: (repeats, len(runs), 2) milliseconds, device and wall.

    Stops early once the first callable's interval is narrow, or the budget is spent.
    """
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=device) if device == "cuda" else None
    for run in runs:
        run()
    rows, began = [], time.monotonic()
    while len(rows) < max_repeats:
        rows.append([one_run(run, device, flush) for run in runs])
        if len(rows) >= MIN_REPEATS:
            first = np.array(rows)[:, 0, 0]
            low, high = median_interval(first)
            if high - low <= NARROW * np.median(first):
                break
        if time.monotonic() - began > BUDGET_S and len(rows) >= 3:
            break
    return np.array(rows)


def measure(eager: Callable[[], object], compiled: Callable[[], object], device: str) -> Timing:
    """Times of eager and compiled; the interval is of eager's device time."""
    times = interleaved([eager, compiled], device)
    medians = np.median(times, axis=0)
    low, high = median_interval(times[:, 0, 0])
    return Timing(
        eager_ms=float(medians[0, 0]),
        eager_low_ms=low,
        eager_high_ms=high,
        eager_wall_ms=float(medians[0, 1]),
        compiled_ms=float(medians[1, 0]),
        compiled_wall_ms=float(medians[1, 1]),
        repeats=len(times),
        launch_bound=bool(medians[0, 1] > LAUNCH_BOUND * medians[0, 0]),
    )
