"""Sketches of tasks, made in the sandbox and kept: shards in the work folder, nothing made twice.

Standard library, pyarrow and yaml only. A kill costs the shard in hand, seconds of work; the next run makes what is missing.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from ops6k import progress, store
from ops6k.records import Task
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.target import Target
from ops6k.train.sketch import Sketch

TIMEOUT_S = 60.0
"""Of a task; one takes 0.05 s."""
MEMORY_GIB = 4.0
"""Of a child: torch and its exporter. Fake tensors hold nothing."""
SHARD_TASKS = 256
BATCH_TASKS = 8
"""Tasks of one child: its start takes longer than a sketch."""


@dataclass(frozen=True, slots=True)
class Made:
    """One task's sketch as it is kept."""

    sketch: Sketch
    why: str
    """Why it lacks nodes or rewrites, in one line; empty where it does not."""


def sketches_of(tasks: Sequence[Task], target: Target, workers: int, work: Path) -> dict[str, Sketch]:
    """The sketch of each task by its id; workers: 0 is one a core.

    One that cannot be captured has no rewrites, one that cannot even be traced no nodes.
    """
    return {task_id: made.sketch for task_id, made in made_of(tasks, target, workers, work).items()}


def made_of(tasks: Sequence[Task], target: Target, workers: int, work: Path) -> dict[str, Made]:
    """The same, with the reasons of what is lacking."""
    folder = work / "sketches" / rules()
    wanted = {task.task_id: task for task in tasks}
    known = {made.sketch.task_id: made for made in _kept(folder)}
    missing = [task for task_id, task in wanted.items() if task_id not in known]
    if missing:
        with progress.track("sketches", len(missing)) as tracker:
            found = _made(missing, target, workers, tracker)
            while shard := list(islice(found, SHARD_TASKS)):
                _keep(shard, folder)
                known |= {made.sketch.task_id: made for made in shard}
    return {task_id: known[task_id] for task_id in wanted}


def rules() -> str:
    """Fingerprint of what a sketch depends on beside the task."""
    package = Path(__file__).resolve().parents[1]
    files = ("train/describe.py", "train/sketch.py", "train/rewrites", "screen/dry_run.py", "screen/work.py", "screen/flops.py")
    return store.fingerprint(version("torch"), store.code_hash(*(package / file for file in files)))


def _kept(folder: Path) -> Iterator[Made]:
    for path in sorted(folder.glob("*.parquet")):
        yield from store.read_rows(path, Made)


def _keep(shard: Sequence[Made], folder: Path) -> None:
    store.write_rows(folder / f"{store.fingerprint([made.sketch.task_id for made in shard])}.parquet", shard, Made)


def _made(tasks: Sequence[Task], target: Target, workers: int, tracker: progress.Tracker) -> Iterator[Made]:
    """Sketches as they come. A child that dies loses its batch, whose tasks are tried again one by one."""
    batches = {str(first): tasks[first : first + BATCH_TASKS] for first in range(0, len(tasks), BATCH_TASKS)}
    again: list[Task] = []
    with tracing(workers or os.cpu_count() or 1) as sandbox:
        for ended in sandbox.map(_job(number, batch, target) for number, batch in batches.items()):
            if ended.answer is None:
                again += batches[ended.job_id]
            yield from _counted(_answered(ended), tracker)
        alone = {task.task_id: task for task in again}
        for ended in sandbox.map(_job(task_id, [task], target) for task_id, task in alone.items()):
            yield from _counted(_answered(ended) or [_lost(ended)], tracker)


def tracing(workers: int) -> Sandbox:
    """A fork server for functions of describe."""
    return Sandbox(
        device="cpu", workers=workers, preload="torch,ops6k.train.describe", warm_up="ops6k.train.describe:sketch_once"
    )


def _job(number: str, tasks: Sequence[Task], target: Target) -> Job:
    payload = {"tasks": [(task.task_id, task.code) for task in tasks], "target": store.to_plain(target)}
    return Job(number, "ops6k.train.describe:describe_tasks", payload, TIMEOUT_S * len(tasks), MEMORY_GIB)


def _answered(ended: Ended) -> list[Made]:
    return [store.from_plain(Made, row) for row in ended.answer["made"]] if ended.answer is not None else []


def _lost(ended: Ended) -> Made:
    """What a task that ends its child has."""
    return Made(Sketch(ended.job_id, (), (), False), f"{ended.how} after {ended.seconds:.0f} s: {ended.detail}")


def _counted(rows: Iterable[Made], tracker: progress.Tracker) -> Iterator[Made]:
    for made in rows:
        lacking = f"{made.sketch.task_id}: {made.why}" if made.why else ""
        tracker.advance(note=lacking)
        yield made
