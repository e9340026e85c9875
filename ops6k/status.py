"""Where a build stands, in one screen."""

from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ops6k import runner
from ops6k.params import Params
from ops6k.stages import STAGES, Stage

_MOST = 3


def overview(params: Params, data: Path) -> Group:
    """A table of the stages, and who is building."""
    table = Table("stage", "state", "taken", "kept", "seconds", "most frequent reasons", box=None, pad_edge=False)
    for column in table.columns[2:5]:
        column.justify = "right"
    for stage in STAGES:
        table.add_row(*_row(stage, params, data))
    holder = runner.holder(data)
    now = runner.at_work_on(data) if holder else ""
    said = f"{holder} is building here{now and f': {now}'}" if holder else "nobody is building here"
    return Group(table, Text(said, style="dim"))


def _row(stage: Stage, params: Params, data: Path) -> tuple[str | Text, ...]:
    why = runner.why_not(stage, params, data)
    state = Text("done", "green") if why is None else Text(why, "dim" if why == "not made yet" else "yellow")
    report = runner.read_report(stage, params, data)
    if report is None:
        return stage.name, state, "", "", "", ""
    reasons = sorted(report.reasons, key=lambda funnel: -funnel.count)
    parts = [f"{funnel.reason} {funnel.count}" for funnel in reasons[:_MOST]]
    more = sum(funnel.count for funnel in reasons[_MOST:])
    most = ", ".join(parts + [f"{more} for other reasons"] * bool(more))
    return stage.name, state, str(report.taken), str(report.kept), f"{report.seconds:.1f}", most


def first_id(data: Path) -> str | None:
    """The id of some row of the data set, to show; None where there is no data set."""
    for path in sorted((data / "dataset").rglob("*.parquet")):
        if "task_id" in pq.read_schema(path).names:
            for row in pq.read_table(path, columns=["task_id"]).slice(0, 1).to_pylist():
                return row["task_id"]
    return None
