"""Export: a data set in the form that a trainer, a benchmark harness or an agent expects.

Reads Parquet and writes files; no task is run. The code of a row goes out byte for byte, in every format.
"""

from collections.abc import Callable
from pathlib import Path

from ops6k.export.kernelbench import write_problems
from ops6k.export.place import export_folder
from ops6k.export.prompt import Prompts
from ops6k.export.tables import write_cuda_agent, write_trl, write_verl
from ops6k.export.workdir import write_workdir
from ops6k.task_rows import Splits, chosen, splits_of, task_named

_WRITERS: dict[str, Callable[[Path, Splits, Prompts], list[str]]] = {
    "cuda-agent": lambda folder, splits, _: write_cuda_agent(folder, splits),
    "kernelbench": lambda folder, splits, _: write_problems(folder, splits),
    "verl": write_verl,
    "trl": write_trl,
}


def export_set(source: str, format_name: str, out: Path, *, prompts: Path, split: str | None = None) -> list[str]:
    """The whole set, or one split of it, in a folder that takes the place of an earlier export; a line for each thing written.

    prompts: the project's folder of templates. Raises MissingInput, HubError for what cannot be read, Ops6kError where `out`
    holds something else.
    """
    splits = chosen(splits_of(source), split, source)
    with export_folder(out, renewable=True) as folder:
        return _WRITERS[format_name](folder, splits, Prompts(prompts))


def export_task(source: str, prefix: str, out: Path, *, split: str | None = None) -> tuple[Path, list[str]]:
    """A work folder for the task whose id begins so, below `out` under its id, and the names in it; raises as `export_set`.

    Never takes the place of a folder that holds files: they may be somebody's work.
    """
    task = task_named(chosen(splits_of(source), split, source), prefix, source)
    place = out / task.task_id
    with export_folder(place, renewable=False) as folder:
        return place, write_workdir(folder, task)
