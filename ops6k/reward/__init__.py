"""The reward of a solution: a `ModelNew` that is to compute what a task's `Model` computes, faster.

    from ops6k.reward import score
    score(row, source).reward          # -1, 1, 2 or 3

-1: not right. 1: right. 2: and faster than eager; 3: and faster than default torch.compile too, by 5 % at least at the lower end of
the interval. The solution runs in the sandbox of the screen. Milestones: CUDA Agent, arXiv 2602.24286.
"""

import atexit
import functools
import itertools
import math
import os
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ops6k.records import TOLERANCE
from ops6k.reward.solution import solution_finding
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.screen.timing import ratio_interval
from ops6k.tables import readable

FASTER = 1.05
"""What the lower end of the interval of a speed-up must reach to count."""
TIMEOUT_S = 180.0
HOST_GIB, CONTEXT_GIB = 4.0, 1.0
COPIES = 6.0
"""Peaks held at once: inputs twice, outputs of reference, compiled and solution, and what each holds on the way."""
PRELOAD = "torch,torch._inductor,sympy.physics.units,ops6k.reward.child"


class Status(StrEnum):
    """What became of a solution."""

    CORRECT = "correct"
    WRONG = "wrong"
    """Other values, shapes or types, changed arguments, memory that is not its own."""
    FAILED = "failed"
    """It raises, or does not load the reference's weights."""
    TORCH = "torch"
    """It calls torch's operators, and must not."""
    UNSAFE = "unsafe"
    """It reaches for what is none of its business."""
    INVALID = "invalid"
    """No Python, or no ModelNew."""
    UNFINISHED = "unfinished"
    """Out of time or memory, or a Triton kernel where there is no triton or no GPU: may pass on another machine."""
    REFERENCE = "reference"
    """The task itself does not run here."""


@dataclass(frozen=True, slots=True)
class Score:
    """The reward of one solution, with its evidence. Times are medians over the repeats, None where it was not timed."""

    reward: int
    status: Status
    message: str
    allow_torch: bool
    torch_calls: tuple[str, ...] = ()
    """Operators of torch that forward called beyond memory and views. Where they are allowed: in one call, once its values are right,
    and without what torch.compile has fused."""
    worst_error: float | None = None
    """Largest absolute difference of any output, over all inputs."""
    repeats: int = 0
    solution_ms: float | None = None
    eager_ms: float | None = None
    compiled_ms: float | None = None
    speedup_eager: float | None = None
    """Median over the repeats of eager's time over the solution's."""
    speedup_eager_low: float | None = None
    """Lower end of its bootstrap interval (95 %)."""
    speedup_eager_high: float | None = None
    speedup_compiled: float | None = None
    """The same against default torch.compile."""
    speedup_compiled_low: float | None = None
    speedup_compiled_high: float | None = None


def score(
    task: Mapping[str, object],
    solution: str,
    *,
    device: str | None = None,
    allow_torch: bool = False,
    repeats: int = 20,
    seed: int | None = None,
) -> Score:
    """The reward of one solution of one row. Never raises for what the solution does.

    task: a row of the data set; of others `code` is enough. device: cpu or cuda; None: cuda if there is one. seed: of inputs and
    weights; None: drawn. The sandbox stays open until the process ends: the first call takes seconds more. Raises WorkerError
    where the machine is at fault.
    """
    if refused := _refused(task, solution, allow_torch):  # its text says enough: no sandbox need start
        return refused
    (found,) = scorer_here(device).scores([(task, solution)], allow_torch=allow_torch, repeats=repeats, seed=seed)
    return found


class Scorer:
    """A sandbox that scores many solutions, several at once; only one is timed at a time. Use as a context manager.

    device_gib: memory that solutions share; None: nine tenths of what is free on the device now.
    """

    def __init__(self, *, device: str | None = None, workers: int | None = None, device_gib: float | None = None) -> None:
        self.device = device or _device_here()
        device_gib = _free_gib(self.device) if device_gib is None else device_gib
        warm_up = "ops6k.screen.warm:compile_once" if self.device == "cpu" else "ops6k.screen.warm:dry_run_once"
        self.numbers = itertools.count()
        self.alone = threading.Lock()
        self.sandbox = Sandbox(
            device=self.device, workers=workers or os.cpu_count() or 1, device_gib=device_gib, preload=PRELOAD, warm_up=warm_up
        )

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.__exit__()

    def scores(
        self,
        pairs: Iterable[tuple[Mapping[str, object], str]],
        *,
        allow_torch: bool = False,
        repeats: int = 20,
        seed: int | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> list[Score]:
        """A score for each (row, solution), in their order."""
        found: list[Score | None] = []
        jobs, places = [], {}
        for task, solution in pairs:
            found.append(_refused(task, solution, allow_torch))
            if found[-1] is None:
                number = str(next(self.numbers))  # a sandbox's own: no two calls share one
                places[number] = len(found) - 1
                payload = self._payload(task, solution, allow_torch, repeats, secrets.randbits(48) if seed is None else seed)
                jobs.append(_job(number, payload, _peak_gib(task), timeout_s, on_device=self.device != "cpu"))
        with self.alone:
            for ended in self.sandbox.map(jobs):
                found[places[ended.job_id]] = _score(ended, allow_torch)
        return found

    def _payload(self, task: Mapping[str, object], solution: str, allow_torch: bool, repeats: int, seed: int) -> dict:
        environment = _part(task, "environment")
        return {
            "candidate_id": readable(task.get("task_id", "")),
            "code": readable(task["code"]),
            "solution": solution,
            "allow_torch": allow_torch,
            "atol": _tolerance(task, "atol"),
            "rtol": _tolerance(task, "rtol"),
            "repeats": repeats,
            "seed": seed,
            "device": self.device,
            "matmul_precision": str(environment.get("matmul_precision") or "highest"),
            "tf32": bool(environment.get("tf32")),
            "threads": 1,
            "lock": str(self.sandbox.lock),
        }


def scorer_here(device: str | None = None) -> Scorer:
    """One a process and device, closed at its end: starting a sandbox takes longer than most scores."""
    return _open(device or _device_here(), os.getpid())


@functools.cache
def _open(device: str, _process: int) -> Scorer:
    scorer = Scorer(device=device)
    atexit.register(scorer.__exit__)
    return scorer


def _job(number: str, payload: dict, peak_gib: float, timeout_s: float, *, on_device: bool) -> Job:
    copies_gib = COPIES * peak_gib
    host_gib, device_gib = (HOST_GIB, copies_gib + CONTEXT_GIB) if on_device else (HOST_GIB + copies_gib, 0.0)
    return Job(number, "ops6k.reward.child:score_solution", payload, timeout_s, host_gib, device_gib)


def _score(ended: Ended, allow_torch: bool) -> Score:
    """A child's answer is what code beside a solution wrote: it is believed only as far as it fits the question."""
    if ended.answer is None:
        unfinished = ended.how in ("timeout", "memory")
        message = f"{ended.how} in {ended.phase or 'load'} after {ended.seconds:.0f} s ({ended.detail})"
        return Score(-1, Status.UNFINISHED if unfinished else Status.FAILED, message, allow_torch)
    if "verdict" in ended.answer:  # what the watch ends a child with
        return Score(-1, Status.UNSAFE, str(ended.answer["verdict"]["message"]), allow_torch)
    answer = ended.answer
    status, calls = Status(answer["status"]), tuple(answer["torch_calls"])
    if status is not Status.CORRECT:
        return Score(-1, status, answer["message"], allow_torch, calls, answer["worst_error"])
    times = {name: np.array(row) for name, row in answer["times"].items()}
    against = {
        f"speedup_{name}{end}": value
        for name in ("eager", "compiled")
        for end, value in zip(("", "_low", "_high"), ratio_interval(times[name], times["solution"]), strict=True)
    }
    reward = 1 + (against["speedup_eager_low"] >= FASTER) * (1 + (against["speedup_compiled_low"] >= FASTER))
    medians = {f"{name}_ms": float(np.median(row)) for name, row in times.items()}
    said = f"{medians['solution_ms']:.3g} ms, eager {medians['eager_ms']:.3g} ms, compiled {medians['compiled_ms']:.3g} ms"
    repeats = len(times["solution"])
    return Score(int(reward), status, said, allow_torch, calls, answer["worst_error"], repeats, **medians, **against)


def _refused(task: Mapping[str, object], solution: object, allow_torch: bool) -> Score | None:
    """What is known without running anything: the row is none, or the text of the solution."""
    if not isinstance(task.get("code"), str):
        said = f"a task has a `code`, the source of its Model; this one has {', '.join(map(str, task)) or 'nothing'}"
        return Score(-1, Status.REFERENCE, readable(said), allow_torch)
    odd = next((name for name in ("atol", "rtol") if not 0 <= _tolerance(task, name) < math.inf), None)
    if odd:
        return Score(-1, Status.REFERENCE, f"{odd} is {_tolerance(task, odd)}", allow_torch)
    if not isinstance(solution, str):
        return Score(-1, Status.INVALID, f"a solution is text, this is {type(solution).__name__}", allow_torch)
    finding = solution_finding(solution, allow_torch=allow_torch)
    if finding is None:
        return None
    status = Status.UNSAFE if finding.reason.outcome == "unsafe" else Status.INVALID
    return Score(-1, status, readable(finding.message), allow_torch)


def _tolerance(task: Mapping[str, object], name: str) -> float:
    value = _part(task, "checks").get(name, task.get(name))
    return float(value) if isinstance(value, int | float) else TOLERANCE


def _part(task: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = task.get(name)
    return part if isinstance(part, Mapping) else {}


def _peak_gib(task: Mapping[str, object]) -> float:
    peak = _part(task, "work").get("peak_bytes")
    return float(peak) / 2**30 if isinstance(peak, int | float) and 0 <= peak < 2**43 else 1.0


def _free_gib(device: str) -> float:
    """Nine tenths of the device's free memory: who trains may hold the rest."""
    import torch

    return 0.9 * torch.cuda.mem_get_info()[0] / 2**30 if device == "cuda" else float("inf")


def _device_here() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
