"""What `ops6k similar FILE.py` prints: neighbours with a score a channel, and canonical forms side by side."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ops6k import dedup
from ops6k.dedup.canonical import canonical
from ops6k.dedup.decide import Subject
from ops6k.dedup.index import Reference, load_indexes, sources
from ops6k.dedup.program import is_task
from ops6k.dedup.similar import Neighbour, nearest, side_by_side
from ops6k.dedup.subject import arguments, folded
from ops6k.dedup.trace import aten_operators
from ops6k.errors import MissingInput
from ops6k.params import Params
from ops6k.tables import source_text, syntax_error

_ROWS = "row"


def page(path: Path, params: Params, data: Path, *, count: int, source: Path | None) -> Iterator[RenderableType]:
    """Parts to print, in order. source: folder of the benchmarks' problems, whose form an index does not hold.

    Raises MissingInput where the file or an index is absent, or the file is no task.
    """
    if not path.is_file():
        raise MissingInput(f"{path}: no such file")
    code = source_text(path)
    if wrong := syntax_error(code):
        raise MissingInput(f"{path}: no Python: {wrong}")
    if not is_task(code):
        raise MissingInput(f"{path}: no task: no class in it")
    references = load_indexes(params.path(index) for index in params.dedup.benchmarks)
    (aten,) = aten_operators([code])
    problems = nearest(code, aten, references, count)
    yield _table("Nearest benchmark problems", problems)
    if source is not None:
        yield from _beside_problem(code, problems[0], source)
    rows = rows_of(data)
    if not rows:
        yield Text(f"no rows in {data} yet", "dim")
        return
    near = nearest(code, aten, [_reference(row) for row in rows], count)
    yield _table("Nearest rows", near)
    yield _beside(code, next(row.code for row in rows if row.candidate_id == near[0].reference), near[0].reference)


def rows_of(data: Path) -> list[Subject]:
    """The rows of the data set; before it is assembled, the accepted tasks; none before the screen."""
    paths = [path for path in sorted((data / "dataset").rglob("*.parquet")) if "task_id" in pq.read_schema(path).names]
    if paths:
        # Some configurations of a data set repeat rows of others.
        found = {row["task_id"]: row for path in paths for row in pq.read_table(path).to_pylist() if row.get("code")}
        return [Subject(name, tuple(_listed(row["ops"])), row["code"], _operators(row)) for name, row in found.items()]
    return dedup.accepted(data) if (data / "verdicts" / "verdicts.parquet").exists() else []


def _listed(ops: object) -> Sequence[str]:
    return ops if isinstance(ops, list) else ()


def _operators(row: dict[str, object]) -> tuple[str, ...] | None:
    work = row.get("work")
    found = work.get("operators") if isinstance(work, dict) else None
    return tuple(found) if found else None


def _reference(row: Subject) -> Reference:
    form = canonical(row.code)
    return Reference(
        row.candidate_id,
        None,
        _ROWS,
        None,
        form.digest if form else "",
        tuple(form.shingles.tolist()) if form else (),
        form.operators if form else (),
        form.flow if form else None,
        folded(row.aten) if row.aten else None,
        arguments(row.code),
    )


def _table(title: str, neighbours: Sequence[Neighbour]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("name", overflow="fold")
    for column in ("of", "level", "canonical", "graph", "text", "operators"):
        table.add_column(column, no_wrap=True)
    for one in neighbours:
        scores = [f"{score:.3f}" for score in (one.graph, one.text, one.operators)]
        level = "" if one.level is None else str(one.level)
        table.add_row(Text(one.reference), one.benchmark, level, "same" if one.canonical else "", *scores)
    return table


def _beside_problem(code: str, problem: Neighbour, source: Path) -> Iterator[RenderableType]:
    found = next((one.code for one in sources(source) if one.name == problem.reference), None)
    if found is None:
        yield Text(f"{problem.reference} is not in {source}", "yellow")
    else:
        yield _beside(code, found, problem.reference)


def _beside(left: str, right: str, name: str) -> Table:
    table = Table("this task", name, title="Canonical forms", title_justify="left", box=None)
    for one, other, is_equal in side_by_side(left, right):
        style = "dim" if is_equal else "yellow"
        table.add_row(Text(one, style), Text(other, style))
    return table
