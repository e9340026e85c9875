"""The whole story of one candidate: what proposed it, its code, what became of it and why, its neighbours and relatives.

Looks at whatever Parquet lies in the folders of a build and tells tables apart by their columns, so it works on a build
that is half done.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ops6k.errors import MissingInput
from ops6k.rounds import ROUNDS

Row = dict[str, object]

_TABLES = {"candidates": "code", "verdicts": "outcome", "matches": "channel", "dataset": "task_id"}
"""What is shown -> a column that only such a table has."""
_FOLDERS = {
    "candidates": tuple(folder for part in ROUNDS for folder in (part.proposed, part.judged)),
    "verdicts": tuple(part.judged for part in ROUNDS),
}


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of every table that speak of one candidate or task."""

    candidates: list[Row]
    verdicts: list[Row]
    matches: list[Row]
    dataset: list[Row]


def story(identifier: str, data: Path) -> Iterator[RenderableType]:
    """Parts to print, in order. Raises MissingInput where nothing, or more than one thing, begins with the identifier."""
    found = find(identifier, data)
    yield _end(found)
    yield from _proposed(found)
    yield from (_facts("verdict", row, skip=("candidate_id",)) for row in found.verdicts)
    if not found.verdicts and not found.dataset:
        yield Text("not screened yet", "yellow")
    yield from (_facts("match", row, skip=("candidate_id",)) for row in found.matches)
    yield from (
        _facts("row of the data set", row, skip=("code", "ops", "work", "checks", "timing", "environment", "validations"))
        for row in found.dataset
    )
    yield from (_pairs("validations", map(_validation, row["validations"])) for row in found.dataset if row.get("validations"))
    yield from _relatives(found, data)


def _end(found: Found) -> Text:
    """What became of it in one line: dedup may reject what the screen accepts."""
    copy = next((match for match in found.matches if match["reason"]), None)
    if copy:
        of = f" of {copy['benchmark']}" if copy["benchmark"] else ""
        return Text(f"{copy['reason']}: {copy['channel']} {copy['score']:.2f} with {copy['reference']}{of}", "bold yellow")
    if not found.verdicts:
        return Text("in the data set" if found.dataset else "not screened yet", "bold")
    verdict = found.verdicts[-1]
    row = ", in the data set" if found.dataset else ""
    return Text(
        f"{verdict['reason'] or verdict['outcome']}{row}: {verdict['message']}",
        "bold" if verdict["reason"] is None else "bold yellow",
    )


def find(identifier: str, data: Path) -> Found:
    """The rows of the one candidate or task whose id begins so."""
    ids = {row["candidate_id"] for row in _rows(data, "candidates", "candidate_id", identifier)}
    tasks = _rows(data, "dataset", "task_id", identifier)
    ids |= {candidate for row in tasks for candidate in _candidates_of(row, data)}
    if not ids and not tasks:
        raise MissingInput(f"{identifier}: no candidate and no task in {data} begins so")
    if len(ids) > 1 and len({row["task_id"] for row in tasks}) != 1:
        raise MissingInput(
            f"{identifier}: {len(ids)} candidates begin so ({', '.join(sorted(map(str, ids))[:4])}); give more of the id"
        )
    by_id = {
        name: [row for one in sorted(map(str, ids)) for row in _rows(data, name, "candidate_id", one)]
        for name in ("candidates", "verdicts", "matches")
    }
    codes = {row["code"] for row in by_id["candidates"]}
    rows = tasks or [row for row in _rows(data, "dataset", "task_id", "") if row["code"] in codes]
    return Found(**by_id, dataset=rows)


def _candidates_of(task: Row, data: Path) -> list[object]:
    return [row["candidate_id"] for row in _rows(data, "candidates", "candidate_id", "") if row["code"] == task["code"]]


def _rows(data: Path, name: str, column: str, begins: str) -> list[Row]:
    """Rows of every such table whose column begins so."""
    folders = [data / folder for folder in _FOLDERS.get(name, (name,))]
    rows = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.parquet")):
        if {_TABLES[name], column} <= set(pq.read_schema(path).names):
            table: pa.Table = pq.read_table(path, filters=pc.starts_with(pc.field(column), begins))
            rows += table.to_pylist()
    return rows


def _proposed(found: Found) -> Iterator[RenderableType]:
    proposals = found.candidates or found.dataset
    for row in proposals[:1]:
        yield _facts("candidate" if found.candidates else "task", {key: row[key] for key in row if key not in _SHOWN_ELSEWHERE})
        yield Syntax(str(row["code"]), "python", theme="ansi_dark", background_color="default")


_SHOWN_ELSEWHERE = frozenset(
    {"code", "timing", "work", "checks", "similarity", "environment", "validations", "licence", "attribution"}
)


def _validation(row: Row) -> tuple[str, str]:
    """Where one screening was, and what became of it: `cpu`, `accepted, eager 2 ms, compiled 1.6 ms (torch 2.13.0, target cpu)`."""
    times = [f"{name} {row[f'{name}_ms']:.4g} ms" for name in ("eager", "compiled") if row.get(f"{name}_ms") is not None]
    seen = [str(row["reason"] or row["outcome"]), *times] + [str(row["message"])] * bool(row["reason"] and row["message"])
    made_with = [f"{name} {row[name]}" for name in ("torch", "triton", "driver", "target") if row.get(name)]
    return str(row["device"]), f"{', '.join(seen)} ({', '.join(made_with)})"


def _facts(title: str, row: Row, skip: tuple[str, ...] = ()) -> Table:
    facts = _flat({key: value for key, value in row.items() if key not in skip})
    return _pairs(title, ((key, _shown(value)) for key, value in facts))


def _pairs(title: str, pairs: Iterable[tuple[str, str]]) -> Table:
    table = Table("", "", title=title, title_justify="left", title_style="bold", show_header=False, box=None, pad_edge=False)
    for key, value in pairs:
        table.add_row(Text(key, "dim"), Text(value))
    return table


def _flat(row: Row, before: str = "") -> Iterator[tuple[str, object]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif value is not None:
            yield f"{before}{key}", value


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(part) for part in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _relatives(found: Found, data: Path) -> Iterator[RenderableType]:
    for candidate in found.candidates:
        children = _rows(data, "candidates", "parent", str(candidate["candidate_id"]))
        if candidate["parent"]:
            yield Text(f"parent   {candidate['parent']}")
        for child in children:
            yield Text(f"child    {child['candidate_id']} (round {child['round']})")
