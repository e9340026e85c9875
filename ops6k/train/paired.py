"""Times of several ways to do the same, taken in turns, and how far apart they are. Standard library, torch and numpy only."""

import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch

L2_BYTES = 256 * 2**20
"""Written between timings on a GPU, so that no run finds its inputs in the cache; over twice an H200's 50 MB."""
RESAMPLES = 1000


@contextmanager
def device_lock(path: str) -> Iterator[None]:
    """The device for this process alone, among those that ask by the same file."""
    with open(path, "rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def paired_ms(runs: Sequence[Callable[[], object]], repeats: int, device: str, generator: np.random.Generator) -> np.ndarray:
    """Milliseconds of each run in each repeat, (runs, repeats) float64; in every repeat all runs, in a random order."""
    times = np.empty((len(runs), repeats))
    flush = torch.empty(L2_BYTES, dtype=torch.int8, device=device) if device == "cuda" else None
    once = _cuda_ms if device == "cuda" else _cpu_ms
    for repeat in range(repeats):
        for index in generator.permutation(len(runs)):
            times[index, repeat] = once(runs[index], flush)
    return times


def ratio_interval(above: np.ndarray, below: np.ndarray, generator: np.random.Generator) -> tuple[float, float, float]:
    """Median of the paired ratios above / below and its 95 % bootstrap interval: (middle, low, high). above, below: (repeats,)."""
    ratios = above / below
    drawn = generator.choice(ratios, size=(RESAMPLES, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    middle = float(np.median(ratios))
    return middle, min(float(low), middle), max(float(high), middle)


def _cpu_ms(run: Callable[[], object], _: torch.Tensor | None) -> float:
    began = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - began)


def _cuda_ms(run: Callable[[], object], flush: torch.Tensor | None) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    if flush is not None:
        flush.zero_()
    torch.cuda.synchronize()
    begin.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)
