"""The tasks that are exported: a data set's folder as on the Hub, one Parquet file, or a Hub id; each row checked before it goes out."""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from ops6k.assemble.split import SPLITS
from ops6k.errors import MissingInput, Ops6kError
from ops6k.records import TOLERANCE, Task, task_id
from ops6k.store import from_plain, read_rows

Splits = Mapping[str, Sequence[Task]]

_MEASURED = ("timing.eager_ms", "timing.compiled_ms", "work.sol_ms", "checks.output_hash", "environment.device")
"""What every format may speak of; a row without it was not written by `ops6k assemble`."""
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_SHARD = re.compile(r"-\d{5}(-of-\d{5})?$")
_BROKEN = (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException)
"""What rows of another shape than a Task's give while they are read."""
_SHOWN = 4


def tolerance(task: Task) -> tuple[float, float]:
    """Absolute and relative tolerance that a kernel is held to."""
    atol, rtol = task.checks.atol, task.checks.rtol
    return TOLERANCE if atol is None else atol, TOLERANCE if rtol is None else rtol


def splits_of(source: str) -> dict[str, list[Task]]:
    """The tasks of each split; raises MissingInput, HubError with one line."""
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return {_split_name(path): _file(path)}
    if _HUB_ID.fullmatch(source) and path.suffix != ".parquet":
        from ops6k.dedup import hub

        return {name: _on_hub(rows, f"{source} {name}") for name, rows in hub.splits(source).items()}
    raise MissingInput(f"{source}: neither a data set's folder, nor a Parquet file, nor a Hub id (owner/name)")


def chosen(splits: Splits, split: str | None, source: str) -> dict[str, Sequence[Task]]:
    """All splits that have rows, or the one that is asked for; raises MissingInput where nothing is left."""
    if split is not None and split not in splits:
        raise MissingInput(f"{source}: no split {split!r}; it has {', '.join(splits)}")
    # `datasets` cannot read a Parquet file of no rows: a split that a tiny set leaves empty is not written.
    kept = {name: tasks for name, tasks in splits.items() if tasks and split in (None, name)}
    if not kept:
        raise MissingInput(f"{source}: no task in {'it' if split is None else f'split {split}'}")
    return kept


def task_named(splits: Splits, prefix: str, source: str) -> Task:
    """The one task whose id begins so; raises MissingInput where there is none, Ops6kError where there are several."""
    begun = prefix.lower()
    if not re.fullmatch("[0-9a-f]{1,16}", begun):
        raise Ops6kError(f"{prefix!r} is no task id: give how one begins, up to 16 hex digits")
    found = {task.task_id: task for tasks in splits.values() for task in tasks if task.task_id.startswith(begun)}
    if not found:
        raise MissingInput(f"{source}: no task's id begins with {prefix!r}")
    if len(found) > 1:
        ids = ", ".join(sorted(found)[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
        raise Ops6kError(f"{source}: {len(found)} tasks begin with {prefix!r} ({ids}); give more of the id")
    return next(iter(found.values()))


def _folder(folder: Path) -> dict[str, list[Task]]:
    files = [path for path in sorted((folder / "data").glob("*.parquet")) if not path.name.startswith(".")]
    if not files:
        raise MissingInput(f"{folder}: no data/*.parquet in it; `ops6k assemble` makes a data set")
    splits: dict[str, list[Task]] = {}
    for path in sorted(files, key=_place):
        splits.setdefault(_split_name(path), []).extend(_file(path))
    return splits


def _place(path: Path) -> tuple[int, str]:
    """train, validation, test, then others, as a reader expects them."""
    name = _split_name(path)
    return SPLITS.index(name) if name in SPLITS else len(SPLITS), path.name


def _split_name(path: Path) -> str:
    """train of train.parquet, and of train-00000-of-00002.parquet as `datasets` pushes it."""
    return _SHARD.sub("", path.stem)


def _file(path: Path) -> list[Task]:
    try:
        return _checked(read_rows(path, Task), str(path))
    except _BROKEN as error:
        raise _other_shape(str(path), error) from None


def _on_hub(rows: Iterable[dict], place: str) -> list[Task]:
    try:
        return _checked([from_plain(Task, row) for row in rows], place)
    except _BROKEN as error:
        raise _other_shape(place, error) from None


def _other_shape(place: str, error: Exception) -> MissingInput:
    said = str(error).partition("\n")[0]
    return MissingInput(f"{place}: rows are not those of an Ops6K data set ({type(error).__name__}: {said})")


def _checked(tasks: list[Task], place: str) -> list[Task]:
    """The tasks; raises MissingInput at the first whose code is not what its id stands for, or that lacks what was measured."""
    for number, task in enumerate(tasks):
        lacking = [name for name in _MEASURED if _value(task, name) is None]
        if lacking:
            raise MissingInput(f"{place} row {number}: {', '.join(lacking)} is missing")
        if task.task_id != task_id(task.code):
            raise MissingInput(f"{place} row {number}: the code is not what task_id {task.task_id!r} stands for")
        if len(task.ops) != task.depth:
            raise MissingInput(f"{place} row {number}: {len(task.ops)} ops at depth {task.depth}")
    return tasks


def _value(task: Task, name: str) -> object:
    try:
        return operator.attrgetter(name)(task)
    except AttributeError:  # the record that holds it is None
        return None
