"""A folder as KernelBench's harness reads it: level{depth}/{number}_{Name}.py, and index.csv to find a task again."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ops6k.records import Task
from ops6k.task_rows import Splits

INDEX = "index.csv"
_LONGEST_NAME = 100
"""A file name may have 255 bytes, and five labels of transformers come near."""
_LIBRARY = re.compile(r"^(?:(?:torch|nn|F|functional|transformers)\.)+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One file to be."""

    file: str
    """Relative to the folder."""
    split: str
    task: Task


def write_problems(folder: Path, splits: Splits) -> list[str]:
    """A file a task, and the index; a line for each level."""
    found = list(problems(splits))
    for problem in found:
        path = folder / problem.file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(problem.task.code.encode("utf-8"))  # as bytes: text mode would turn line ends into the machine's own
    _write_index(folder / INDEX, found)
    levels = groupby(found, key=lambda problem: problem.task.depth)
    return [f"level{depth}: {len(list(part))} files" for depth, part in levels] + [f"{INDEX}: {len(found)} rows"]


def problems(splits: Splits) -> Iterator[Problem]:
    """In order of level and task_id; numbers begin at 1 in each level and run on over the splits."""
    tasks = [(task, split) for split, part in splits.items() for task in part]
    tasks.sort(key=lambda pair: (pair[0].depth, pair[0].task_id))
    for depth, level in groupby(tasks, key=lambda pair: pair[0].depth):
        for number, (task, split) in enumerate(level, 1):
            yield Problem(f"level{depth}/{number}_{readable_name(task.ops)}.py", split, task)


def readable_name(ops: tuple[str, ...]) -> str:
    """Conv2d_relu of nn.Conv2d and F.relu: ASCII letters, digits and single underscores, never empty."""
    joined = "_".join(_LIBRARY.sub("", op) for op in ops)
    return re.sub("[^A-Za-z0-9]+", "_", joined)[:_LONGEST_NAME].strip("_") or "task"


def _write_index(path: Path, found: list[Problem]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("file", "task_id", "split", "ops"))
        rows.writerows((one.file, one.task.task_id, one.split, json.dumps(one.task.ops)) for one in found)
