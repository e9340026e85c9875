"""Fills the table of times: jobs for the sandbox, a file a task in the work folder, nothing measured twice.

Standard library, pyarrow, torch and yaml only: this side runs on a bare GPU machine. A kill costs the tasks that were
being measured; the next run finds the rest. Times are kept by target, rules and plan, not by the machine at hand.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k import progress, store
from ops6k.records import Task
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.target import Target, require_machine
from ops6k.train.plans import Plan, applicable
from ops6k.train.times import PlanStatus, PlanTime, TimeTable

TOLERANCE = 1e-2
"""Where a row states none: the verifier's."""
PLAN_TIMEOUT_S = 90.0
"""Wall time that each plan adds to a task's limit; GEMM autotuning was seen to take 68 s."""
BASE_TIMEOUT_S = 60.0
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Measuring:
    """How times are taken."""

    repeats: int
    seed: int
    workers: int
    """Children at once; 0: one per core."""
    deadline_s: float | None = None
    """No task is begun after so many seconds; None: all are measured."""


def measure_tasks(tasks: Sequence[Task], target: Target, how: Measuring, work: Path) -> TimeTable:
    """Times of every task under every applicable plan, measured here where the work folder lacks them.

    Raises TargetMismatch where something is to be measured and this machine is not the target's.
    """
    folder = work / "plan_times" / rules(target, how)
    missing = {task.task_id: (task, plans) for task in tasks if (plans := _unmeasured(task, folder))}
    if missing:
        require_machine(target)
        with progress.track("train", sum(len(plans) for _, plans in missing.values())) as tracker:
            for rows in _measured(list(missing.values()), target, how, work):
                _keep(rows, folder)
                tracker.advance(len(rows), f"measured {rows[0].task_id}")
    return TimeTable(row for task in tasks for row in _cached(task, folder))


def rules(target: Target, how: Measuring) -> str:
    """Fingerprint of what a time depends on beside task and plan."""
    package = Path(__file__).resolve().parents[1]
    code = store.files_hash(package / "train" / "measure.py", package / "screen" / "timing.py")
    return store.fingerprint(target, how.repeats, how.seed, code)


def _unmeasured(task: Task, folder: Path) -> tuple[Plan, ...]:
    known = {(row.plan, row.definition) for row in _cached(task, folder)}
    return tuple(plan for plan in applicable(task) if (plan.name, plan.definition) not in known)


def _cached(task: Task, folder: Path) -> list[PlanTime]:
    path = folder / f"{task.task_id}.parquet"
    return store.read_rows(path, PlanTime) if path.exists() else []


def _keep(rows: Sequence[PlanTime], folder: Path) -> None:
    """Add rows of one task to its file; a row of the same plan takes the place of the older one."""
    path = folder / f"{rows[0].task_id}.parquet"
    kept = {row.plan: row for row in (store.read_rows(path, PlanTime) if path.exists() else [])}
    kept |= {row.plan: row for row in rows}
    store.write_rows(path, kept.values(), PlanTime)


def _measured(items: Sequence[tuple[Task, tuple[Plan, ...]]], target: Target, how: Measuring, work: Path) -> Iterator[list[PlanTime]]:
    """Rows as they come, those of one task together. A plan that takes its child along is noted, and the others tried again without it."""
    began = time.monotonic()
    workers = how.workers or len(os.sched_getaffinity(0))
    work.mkdir(parents=True, exist_ok=True)
    device_gib = 0.9 * target.memory_gib if target.device == "cuda" else float("inf")
    with Sandbox(device=target.device, workers=workers, work=work, device_gib=device_gib, preload="torch,torch._inductor") as sandbox:
        left = {task.task_id: (task, plans) for task, plans in items}
        while left and not _past(began, how):
            again: dict[str, tuple[Task, tuple[Plan, ...]]] = {}
            for ended in sandbox.map(_jobs(left.values(), sandbox, target, how, began)):
                task, plans = left[ended.job_id]
                rows, rest = _outcome(ended, task, plans, target, how)
                if rest:
                    again[task.task_id] = (task, rest)
                if rows:
                    yield rows
            left = again


def _jobs(
    items: Iterable[tuple[Task, tuple[Plan, ...]]], sandbox: Sandbox, target: Target, how: Measuring, began: float
) -> Iterator[Job]:
    for task, plans in items:
        if _past(began, how):
            return
        peak_gib = task.work.peak_bytes / GIB
        yield Job(
            job_id=task.task_id,
            function="ops6k.train.measure:measure_plans",
            payload=_payload(task, plans, target, how) | {"lock": str(sandbox.lock)},
            timeout_s=BASE_TIMEOUT_S + PLAN_TIMEOUT_S * len(plans),
            # Copies of weights and inputs for channels-last plans, and the compilers that each plan starts.
            memory_gib=4 + 4 * peak_gib,
            device_gib=1.5 + 3 * peak_gib,
        )


def _past(began: float, how: Measuring) -> bool:
    return how.deadline_s is not None and time.monotonic() - began > how.deadline_s


def _payload(task: Task, plans: Sequence[Plan], target: Target, how: Measuring) -> dict:
    return {
        "code": task.code,
        "plans": [plan.name for plan in plans],
        "repeats": how.repeats,
        "atol": TOLERANCE if task.checks.atol is None else task.checks.atol,
        "rtol": TOLERANCE if task.checks.rtol is None else task.checks.rtol,
        "seed": how.seed,
        "device": target.device,
        "threads": target.threads,
        "matmul_precision": target.matmul_precision,
        "tf32": target.tf32,
    }


def _outcome(ended: Ended, task: Task, plans: Sequence[Plan], target: Target, how: Measuring) -> tuple[list[PlanTime], tuple[Plan, ...]]:
    """The rows that a job's end amounts to, and the plans to try again."""
    if ended.answer is not None:
        machine = ended.answer["machine"]
        return [_row(task, target, how, machine, found) for found in ended.answer["plans"]], ()
    # The child names each plan as a phase: one that dies in a plan's phase leaves the others to be tried without it.
    guilty = [plan for plan in plans if ended.phase == plan.name] or list(plans)
    status = PlanStatus.FAILED if ended.how == "crashed" else PlanStatus.UNFINISHED
    message = f"{ended.how} after {ended.seconds:.0f} s: {ended.detail}"
    rows = [_row(task, target, how, _UNKNOWN, {"plan": plan.name, "status": status, "message": message}) for plan in guilty]
    return rows, tuple(plan for plan in plans if plan not in guilty)


_UNKNOWN = {"device": "", "driver": None, "torch": "", "triton": None}
"""The machine of a child that left no answer."""


def _row(task: Task, target: Target, how: Measuring, machine: dict, found: dict) -> PlanTime:
    definition = next(plan.definition for plan in applicable(task) if plan.name == found["plan"])
    known = {"task_id": task.task_id, "definition": definition, "target": target.name, "repeats": how.repeats}
    return store.from_plain(PlanTime, known | machine | found)
