"""The rows of any set in KernelBench form, whatever its columns are called: a folder, a Parquet or JSONL file, a Hub id."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ops6k.errors import MissingInput
from ops6k.judge import from_python, from_text
from ops6k.tables import json_rows, parquet_rows, plain_files, readable

CODE = ("code", "source", "task_code", "problem", "reference", "ref_arch_src", "pytorch_code", "torch_code", "python_code")
"""Columns that may hold a task's source, the likeliest first."""
NAME = ("task_id", "name", "id", "problem_name", "uuid")
OPS = ("ops", "operators", "labels")
COLUMNS = (*CODE, *NAME, *OPS)
_LOOKED_AT = 50
"""Rows in which the column with the source is looked for."""


@dataclass(frozen=True, slots=True)
class Row:
    """One task of somebody's set."""

    place: str
    """Where a person finds it: `data/train.parquet row 12`, `level1/3_x.py`."""
    name: str
    ops: tuple[str, ...] | None
    """None where the set says nothing: labels are not judged then."""
    code: str
    link: str | None = None
    """Where a browser shows it; None for what lies on this machine."""
    lacks: str = ""
    """Why there is no source; empty where there is one."""


def rows_of(source: str) -> list[Row]:
    """Rows in order; raises MissingInput, HubError with one line."""
    path = Path(source)
    if path.is_dir():
        found = [row for file in _files(path) for row in _file(file, readable(file.relative_to(path)))]
    elif path.is_file():
        found = list(_file(path, readable(path.name)))
    elif source.count("/") == 1:
        from ops6k.dedup import hub

        found = [row for name, split in hub.splits(source).items() for row in _on_hub(source, name, list(split))]
    else:
        raise MissingInput(f"{source}: neither a folder, nor a Parquet, JSONL or Python file, nor a Hub id (owner/name)")
    if not found:
        raise MissingInput(f"{source}: no task in it")
    return found


def _on_hub(source: str, split: str, rows: Sequence[Mapping[str, object]]) -> Iterator[Row]:
    viewer = f"https://huggingface.co/datasets/{source}/viewer/default/{split}"
    for number, row in enumerate(_table(rows, f"{source} {split}")):
        yield replace(row, link=f"{viewer}?row={number}")


def _files(folder: Path) -> list[Path]:
    """The tables of a folder; its Python files where there are none. A data set's `funnel` and `operators` are no tasks."""
    files = plain_files(folder)
    tables = [path for path in files if path.suffix in (".parquet", ".jsonl")]
    return [path for path in tables if _has_code(path)] if tables else [path for path in files if path.suffix == ".py"]


def _has_code(path: Path) -> bool:
    """Whether the table holds tasks: a `funnel` of verdicts beside a data set does not."""
    return path.suffix != ".parquet" or _code_column(parquet_rows(path, COLUMNS)[:_LOOKED_AT]) is not None


def _file(path: Path, place: str) -> Iterator[Row]:
    if path.suffix == ".py":
        given = from_python(path, readable(path.stem))
        yield Row(place, given.task_id, given.ops, given.code, lacks="" if given.code.strip() else "no source: the file is empty")
    elif path.suffix == ".parquet":
        yield from _table(parquet_rows(path, COLUMNS), place)
    elif path.suffix == ".jsonl":
        yield from _table(list(json_rows(path)), place)
    else:
        raise MissingInput(f"{path}: give a folder, a .parquet, .jsonl or .py file, or a Hub id")


def _table(rows: Sequence[Mapping[str, object]], place: str) -> Iterator[Row]:
    column = _code_column(rows[:_LOOKED_AT])
    if rows and column is None:
        raise MissingInput(f"{place}: no column with the source of a task (looked for {', '.join(CODE)})")
    for number, row in enumerate(rows):
        name = _column(row, NAME)
        known = readable(row[name]) if name else f"row-{number}"
        code = readable(row[column]) if isinstance(row.get(column), str) else ""
        labels = _labels(row)
        labels = from_text(code, known).ops if labels is None else labels
        yield Row(f"{place} row {number}", known, labels, code, lacks=_lack(row, column))


def _lack(row: Mapping[str, object], column: str) -> str:
    """Why the row has no source, or empty."""
    value = row.get(column)
    if isinstance(value, str) and value.strip():
        return ""
    what = "empty" if isinstance(value, str) else "null" if value is None else f"{type(value).__name__}, not text"
    return f"no source: `{column}` is {what}" if column in row else f"no source: there is no `{column}`"


def _code_column(rows: Sequence[Mapping[str, object]]) -> str | None:
    """The column that holds Python with a class in it; names alone mislead (`source` may say who made a row)."""
    found = (name for row in rows for name in [_column(row, [wanted for wanted in CODE if _is_task(row, wanted)])] if name)
    return next(found, None)


def _is_task(row: Mapping[str, object], wanted: str) -> bool:
    name = _column(row, [wanted])
    return name is not None and isinstance(row[name], str) and "class " in row[name]


def _column(row: Mapping[str, object], wanted: Sequence[str]) -> str | None:
    """The row's own spelling of the first name that it has."""
    known = {name.lower(): name for name in row}
    return next((known[name] for name in wanted if name in known), None)


def _labels(row: Mapping[str, object]) -> tuple[str, ...] | None:
    """Labels as a list, or as the text of one: `["torch.add"]`, `['torch.add']`, `torch.add, nn.ReLU`."""
    column = _column(row, OPS)
    value = row[column] if column else None
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):  # what literal_eval says of text that is no list
            value = [part.strip() for part in value.split(",") if part.strip()]
    return tuple(map(readable, value)) if isinstance(value, list | tuple) and value else None
