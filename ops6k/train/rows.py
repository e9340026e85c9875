"""Which rows of the data set are measured, which train and which are held out.

Standard library and pyarrow only (the GPU side uses it).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k import store
from ops6k.errors import MissingInput
from ops6k.records import Task
from ops6k.train.times import TimeTable

HELD_OUT_SHARE = 0.3
"""Of the measured tasks, where the data set has as many held-out rows: more than its own splits, for tighter intervals."""
FEWEST_TO_SPLIT = 4


@dataclass(frozen=True, slots=True)
class Rows:
    """Tasks to train on and tasks to be judged by."""

    train: tuple[Task, ...]
    held_out: tuple[Task, ...]
    how: str
    """Where the held-out tasks come from, for the card."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        return self.train + self.held_out


def read_splits(dataset: Path) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """Rows of the train split, and of validation and test together; a split without a file is empty. Raises MissingInput."""
    splits = {}
    for name in ("train", "validation", "test"):
        path = dataset / "data" / f"{name}.parquet"
        splits[name] = tuple(store.read_rows(path, Task)) if path.exists() else ()
    if not any(splits.values()):
        raise MissingInput(f"{dataset}: no task to train on; `ops6k assemble` makes the data set")
    return splits["train"], splits["validation"] + splits["test"]


def select(train: Sequence[Task], held_out: Sequence[Task], count: int) -> Rows:
    """At most `count` tasks, about HELD_OUT_SHARE of them held out, in the order of their ids (hashes: a fair draw, always the same)."""
    wanted = min(len(held_out), max(1, round(count * HELD_OUT_SHARE)))
    from_train = min(len(train), max(0, count - wanted))
    wanted = min(len(held_out), count - from_train)
    return Rows(_first(train, from_train), _first(held_out, wanted), "validation and test splits")


def measured(rows: Rows, table: TimeTable) -> Rows:
    """The rows that have times, split so that both sides have tasks wherever that can be; raises MissingInput when none has."""
    train, held_out = (tuple(task for task in part if table.attempts(task.task_id)) for part in (rows.train, rows.held_out))
    if not train + held_out:
        raise MissingInput(f"plan times: none of the {len(rows.tasks)} selected tasks has a measured plan")
    if train and held_out:
        return Rows(train, held_out, rows.how)
    return leave_out(train or held_out)


def leave_out(tasks: Sequence[Task]) -> Rows:
    """Clusters left out of tasks of one split, about HELD_OUT_SHARE of the tasks; all of them on both sides when they are too few."""
    clusters: dict[str, list[Task]] = {}
    for task in tasks:
        clusters.setdefault(task.cluster, []).append(task)
    held_out: list[Task] = []
    for cluster in sorted(clusters):
        if len(held_out) + len(clusters[cluster]) <= HELD_OUT_SHARE * len(tasks):
            held_out += clusters[cluster]
    if len(tasks) < FEWEST_TO_SPLIT or not held_out:
        return Rows(tuple(tasks), tuple(tasks), "none held out, too few tasks: judged on the training tasks themselves")
    ids = {task.task_id for task in held_out}
    return Rows(tuple(task for task in tasks if task.task_id not in ids), tuple(held_out), "left out of one split, by cluster")


def folds(tasks: Sequence[Task], count: int) -> tuple[Rows, ...]:
    """`count` splits that hold out each task once, whole clusters at a time; raises MissingInput for fewer clusters than that."""
    clusters: dict[str, list[Task]] = {}
    for task in {task.task_id: task for task in tasks}.values():
        clusters.setdefault(task.cluster, []).append(task)
    if len(clusters) < count:
        raise MissingInput(f"train.folds={count}: the measured tasks have {len(clusters)} clusters")
    parts: list[list[Task]] = [[] for _ in range(count)]
    for name in sorted(clusters, key=lambda name: (-len(clusters[name]), name)):
        min(parts, key=len).extend(clusters[name])
    how = f"cross-validation over clusters, {count} folds"
    return tuple(Rows(tuple(task for other in parts if other is not part for task in other), tuple(part), how) for part in parts)


def _first(tasks: Sequence[Task], count: int) -> tuple[Task, ...]:
    return tuple(sorted(tasks, key=lambda task: task.task_id)[:count])
