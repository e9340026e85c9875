"""Measures this machine once: bandwidth, matrix rates and launch overhead, written as a target file.

The rates predict eager times in the dry run, so they are those of eager operators, allocation of the result included.
"""

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import numpy as np
import torch
import yaml

from ops6k import slowdown
from ops6k.errors import WorkerError
from ops6k.records import Candidate
from ops6k.screen.instances import set_precision
from ops6k.screen.timing import one_run
from ops6k.store import read_rows, whole_file
from ops6k.target import Target, load, require_machine

REPEATS = 15
ELEMENTS = {"cpu": 2**23, "cuda": 2**28}
MATRIX = {"cpu": 768, "cuda": 8192}
MEMORY_SHARE = {"cpu": 0.25, "cuda": 1.0}
"""Of the memory that is there. A CPU's is shared with the rest of the machine and with the compiler."""


def calibrate(name: str, device: str) -> Target:
    """The target that this machine is. Takes seconds. Raises WorkerError where the device is missing."""
    if device == "cuda" and not torch.cuda.is_available():
        raise WorkerError("calibrate --device cuda: no CUDA device")
    unmeasured = Target(name, device, None, _torch(), 1, 0, "highest", False, 1.0, {"float32": 1.0}, 1.0, "")
    set_precision(unmeasured)
    with torch.device(device), torch.no_grad():
        rates = {
            str(t).removeprefix("torch."): round(_matrix_gflops(device, t), 1)
            for t in (torch.float32, torch.bfloat16, torch.float16)
        }
        return Target(
            name=name,
            device=device,
            device_name=torch.cuda.get_device_name() if device == "cuda" else None,
            torch=_torch(),
            threads=1,
            memory_gib=round(_memory_gib(device) * MEMORY_SHARE[device], 1),
            matmul_precision="highest",
            tf32=False,
            bandwidth_gbs=round(_bandwidth_gbs(device), 1),
            gflops=rates,
            overhead_us=round(_overhead_us(device), 2),
            measured=f"{torch.cuda.get_device_name() if device == 'cuda' else platform.processor() or platform.machine()}, {date.today()}",
        )


def write(target: Target, path: Path) -> Path:
    """The target as YAML, written aside and renamed."""
    with whole_file(path) as aside:
        aside.write_text(
            "# Made by `ops6k calibrate`; see ops6k/target.py for the fields and their units.\n"
            + yaml.safe_dump(asdict(target), sort_keys=False)
        )
    return path


def _torch() -> str:
    return ".".join(torch.__version__.split(".")[:2])


def _median_ms(run: Callable[[], object], device: str) -> float:
    flush = torch.empty(2**27, dtype=torch.uint8, device=device) if device == "cuda" else None
    for _ in range(3):
        run()
    return float(np.median([one_run(run, device, flush)[0] for _ in range(REPEATS)]))


def _bandwidth_gbs(device: str) -> float:
    """Geometric mean over common operators of bytes read and written per second."""
    x = torch.randn(ELEMENTS[device] // 1024, 1024)
    once, twice = x.numel() * 4, x.numel() * 8
    runs = [
        (twice, lambda: x + 1),
        (twice, x.relu),
        (twice, x.sigmoid),
        (twice, lambda: x.softmax(-1)),
        (once, lambda: x.sum(-1)),
        (twice, lambda: x.mul(x)),
    ]
    return float(np.exp(np.mean([np.log(size / _median_ms(run, device) / 1e6) for size, run in runs])))


def _matrix_gflops(device: str, dtype: torch.dtype) -> float:
    n = MATRIX[device]
    a, b = torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype)
    return 2 * n**3 / _median_ms(lambda: a @ b, device) / 1e6


def _overhead_us(device: str) -> float:
    """Of one small operator in a row of a hundred."""
    x = torch.ones(16)

    def many() -> None:
        y = x
        for _ in range(100):
            y = y + 1

    many()
    began = time.perf_counter()
    many()
    if device == "cuda":
        torch.cuda.synchronize()
    return 1e6 * (time.perf_counter() - began) / 100


def _memory_gib(device: str) -> float:
    if device == "cuda":
        return torch.cuda.get_device_properties(0).total_memory / 2**30
    import os

    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30


def learned(target: Target, candidates: Sequence[Candidate]) -> Target:
    """The target with its slowdown fitted anew; prints how well times are predicted, one task in five held out."""
    require_machine(target)
    set_precision(target)
    pairs = slowdown.measured(candidates, target)
    held_out, rest = pairs[::5], [pair for i, pair in enumerate(pairs) if i % 5]
    for name, factors in (("by the rates alone", {}), ("with slowdown", slowdown.fit(rest))):
        middle, near = slowdown.quality(held_out, factors)
        print(
            f"{len(held_out)} of {len(pairs)} tasks held out, {name}: measured over predicted {middle:.2f}, within 2x {near:.0%}"
        )
    return replace(target, slowdown=slowdown.fit(pairs))


def main() -> None:
    """`python -m ops6k.calibrate NAME --device cuda`: for a machine with only torch, numpy and yaml."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m ops6k.calibrate", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--folder", type=Path, default=Path("data/targets"))
    parser.add_argument(
        "--operators",
        type=Path,
        metavar="CANDIDATES",
        help="learn each operator's slowdown from eager runs of the composer's tasks in this Parquet file; rates that are there stay",
    )
    given = parser.parse_args()
    path = given.folder / f"{given.name}.yaml"
    target = load(path) if given.operators and path.exists() else calibrate(given.name, given.device)
    if given.operators:
        target = learned(target, read_rows(given.operators, Candidate))
    print(write(target, path))


if __name__ == "__main__":
    main()
