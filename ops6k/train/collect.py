"""Fills the table of times: jobs for the sandbox, a file a task in the work folder, nothing measured twice.

Standard library, pyarrow, torch and yaml only: this side runs on a bare GPU machine. A kill costs the tasks that were
being measured; the next run finds the rest. Times are kept by target, rules and plan, not by the machine at hand.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k import progress, store
from ops6k.records import TOLERANCE, Task
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.target import Target, require_machine
from ops6k.train.plans import EAGER, Plan
from ops6k.train.times import PlanStatus, PlanTime, TimeTable

PLAN_TIMEOUT_S = 90.0
"""Wall time that each plan adds to a task's limit; GEMM autotuning was seen to take 68 s."""
BASE_TIMEOUT_S = 60.0
COPIES = 4.0
"""Peaks held at once: eager's and a plan's outputs, a channels-last copy of the weights, the pool of a CUDA graph."""
HOST_GIB, CONTEXT_GIB = 4.0, 1.0
"""Of a child beside its tensors: torch and its compilers; a CUDA context with the cache flush's buffer."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """How times are taken."""

    repeats: int
    workers: int
    """Children at once; 0: one per core."""
    deadline_s: float | None = None
    """No task is begun after so many seconds; None: all are measured."""


Asked = tuple[Task, Sequence[Plan]]
"""A task and the plans to measure it under."""


def measure_tasks(asked: Sequence[Asked], target: Target, how: Measuring, work: Path) -> TimeTable:
    """Times of every task under its plans, measured here where the work folder lacks them; also what it has of other plans.

    Raises TargetMismatch where something is to be measured and this machine is not the target's.
    """
    folder = work / "plan_times" / rules(target, how)
    missing = {task.task_id: (task, left) for task, plans in asked if (left := unmeasured(task, plans, folder))}
    if missing:
        require_machine(target)
        with progress.track("train", sum(len(plans) for _, plans in missing.values())) as tracker:
            for rows in _measured(list(missing.values()), target, how):
                _keep(rows, folder)
                tracker.advance(len(rows), f"measured {rows[0].task_id}")
    return TimeTable(row for task, _ in asked for row in _cached(task, folder))


def rules(target: Target, how: Measuring) -> str:
    """Fingerprint of what a time depends on beside task and plan."""
    package = Path(__file__).resolve().parents[1]
    passes = sorted(path for path in (package / "train" / "rewrites").glob("*.py") if path.name != "emit.py")
    files = (package / name for name in ("train/measure.py", "screen/timing.py", "screen/instances.py"))
    return store.fingerprint(target, how.repeats, store.code_hash(*files, *passes))


def unmeasured(task: Task, plans: Sequence[Plan], folder: Path) -> tuple[Plan, ...]:
    """The plans that have no row, as they are defined now, in the task's file."""
    known = {(row.plan, row.definition) for row in _cached(task, folder)}
    return tuple(plan for plan in plans if (plan.name, plan.definition) not in known)


def _cached(task: Task, folder: Path) -> list[PlanTime]:
    path = folder / f"{task.task_id}.parquet"
    return store.read_rows(path, PlanTime) if store.is_whole(path) else []  # a damaged file is measured anew


def _keep(rows: Sequence[PlanTime], folder: Path) -> None:
    """Add rows of one task to its file; a row of the same plan takes the place of the older one."""
    path = folder / f"{rows[0].task_id}.parquet"
    kept = {row.plan: row for row in (store.read_rows(path, PlanTime) if store.is_whole(path) else [])}
    kept |= {row.plan: row for row in rows}
    store.write_rows(path, kept.values(), PlanTime)


def _measured(items: Sequence[tuple[Task, tuple[Plan, ...]]], target: Target, how: Measuring) -> Iterator[list[PlanTime]]:
    """Rows as they come, those of one task together. A plan that takes its child along is noted; the others are tried again without it."""
    began = time.monotonic()
    left = {task.task_id: (task, plans) for task, plans in items}
    rows: dict[str, list[PlanTime]] = {}
    with _sandbox(target, how) as sandbox:

        def jobs() -> Iterator[Job]:
            for task, plans in items:
                if _past(began, how):
                    return
                yield _job(task, plans, target, how, sandbox.lock)

        def follow(ended: Ended) -> Job | None:
            task, plans = left[ended.job_id]
            rows[task.task_id], again = outcome(ended, task, plans, target, how)
            left[task.task_id] = (task, again)
            return _job(task, again, target, how, sandbox.lock) if again else None

        for ended in sandbox.map(jobs(), follow):
            yield rows.pop(ended.job_id)


def _sandbox(target: Target, how: Measuring) -> Sandbox:
    return Sandbox(
        device=target.device,
        workers=how.workers or os.cpu_count() or 1,
        device_gib=0.85 * target.memory_gib if target.device == "cuda" else target.memory_gib,
        preload="torch,torch._inductor,ops6k.train.measure",
        warm_up=f"ops6k.screen.warm:{'compile_once' if target.device == 'cpu' else 'dry_run_once'}",
    )


def _job(task: Task, plans: Sequence[Plan], target: Target, how: Measuring, lock: Path) -> Job:
    tensors_gib = COPIES * task.work.peak_bytes / 2**30
    return Job(
        job_id=task.task_id,
        function="ops6k.train.measure:measure_plans",
        payload=_payload(task, plans, target, how) | {"lock": str(lock)},
        timeout_s=BASE_TIMEOUT_S + PLAN_TIMEOUT_S * len(plans),
        memory_gib=HOST_GIB + (tensors_gib if target.device == "cpu" else 0.0),
        device_gib=tensors_gib + (CONTEXT_GIB if target.device == "cuda" else 0.0),
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
        "target": store.to_plain(target),
    }


def outcome(
    ended: Ended, task: Task, plans: Sequence[Plan], target: Target, how: Measuring
) -> tuple[list[PlanTime], tuple[Plan, ...]]:
    """The rows that a job's end amounts to, and the plans to try again."""
    if ended.answer is not None:
        return [_row(task, target, how, ended.answer["machine"] | found) for found in ended.answer["plans"]], ()
    # The child names each plan as a phase: one that dies in a plan's phase leaves the others to be tried without it.
    guilty = [plan for plan in plans if ended.phase == plan.name] or list(plans)
    # What dies where eager runs or all are timed is no plan's fault.
    own = ended.phase == guilty[0].name and guilty[0] != EAGER
    status = PlanStatus.FAILED if own and ended.how == "crashed" else PlanStatus.UNFINISHED
    message = f"{ended.how} in {ended.phase} after {ended.seconds:.0f} s: {ended.detail}"
    found = [_NO_ANSWER | {"plan": plan.name, "status": status, "message": message} for plan in guilty]
    return [_row(task, target, how, row) for row in found], tuple(plan for plan in plans if plan not in guilty)


_NO_ANSWER = {"device": "", "driver": None, "torch": "", "triton": None}
"""The machine of a child that left no answer."""


def _row(task: Task, target: Target, how: Measuring, found: dict) -> PlanTime:
    known = {
        "task_id": task.task_id,
        "definition": Plan.named(found["plan"]).definition,
        "target": target.name,
        "repeats": how.repeats,
    }
    return store.from_plain(PlanTime, known | found)
