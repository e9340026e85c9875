"""What a run shows in Prefect: a stage's progress and its shards while it is at work, tables after each stage, a page at the end.

Tables are renewed in place, so a run has one of each; a run that fails or is cancelled leaves them as they stood.
"""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from prefect import get_client, get_run_logger, task
from prefect.artifacts import create_markdown_artifact, create_progress_artifact, create_table_artifact, update_progress_artifact
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.client.schemas.objects import TaskRunResult
from prefect.context import TaskRunContext
from prefect.states import Completed, Crashed, Running

from flows import tables
from ops6k import progress
from ops6k.params import Params
from ops6k.records import Report


@task(name="shard", description="A shard or batch of the stage that is at work.")
def _shard() -> None:
    """What the runs of shards belong to. Their work is done by the stage, in its one sandbox; nobody calls this."""


class Shards:
    """A stage's shards as task runs below its own. Without the stage's tags: it holds the slot, and they would wait for it for ever."""

    def __init__(self) -> None:
        self.stage = TaskRunContext.get().task_run
        self.client = get_client(sync_client=True)
        self.open: dict[str, UUID] = {}
        self.seen: set[str] = set()

    def show(self, tracker: progress.Tracker) -> None:
        for name in tracker.parts.keys() - self.seen:
            self.seen.add(name)
            self.open[name] = self._begin(name)
        for name in [name for name in self.open if tracker.parts[name] is not None]:
            self.client.set_task_run_state(self.open.pop(name), Completed(message=tracker.parts[name]))

    def end(self) -> None:
        """Whatever is still open was cut off with the stage."""
        for run in self.open.values():
            self.client.set_task_run_state(run, Crashed(message="not finished; the next run makes it anew"))
        self.open.clear()
        self.seen.clear()

    def _begin(self, name: str) -> UUID:
        below = {"__parents__": [TaskRunResult(id=self.stage.id)]}
        key = str(uuid4())  # a second try of the stage begins it again
        run = self.client.create_task_run(
            _shard, self.stage.flow_run_id, key, name=name, extra_tags=["shard"], state=Running(), task_inputs=below
        )
        return run.id


class Progress:
    """A stage's progress as an artifact of its task run, renewed every few seconds, and as lines in its log; its shards as task runs."""

    def __init__(self, every_s: float = 5.0) -> None:
        self.every_s = every_s
        self.log = get_run_logger()
        self.shards = Shards()
        self.ids: dict[str, UUID] = {}
        self.shown_at = 0.0

    def show(self, tracker: progress.Tracker) -> None:
        share = 100.0 * tracker.done / tracker.total if tracker.total else 0.0
        if tracker.stage not in self.ids:
            self.ids[tracker.stage] = create_progress_artifact(
                share, key=f"progress-{tracker.stage}", description=progress.line(tracker)
            )
        elif time.monotonic() - self.shown_at >= self.every_s:
            self._renew(tracker, share)
        self.shards.show(tracker)

    def end(self, tracker: progress.Tracker) -> None:
        self._renew(tracker, 100.0 if tracker.done >= tracker.total else 100.0 * tracker.done / tracker.total)
        self.shards.end()

    def _renew(self, tracker: progress.Tracker, share: float) -> None:
        self.shown_at = time.monotonic()
        self.log.info(progress.line(tracker))
        update_progress_artifact(self.ids[tracker.stage], share, description=progress.line(tracker))


@dataclass
class Board:
    """What a run has come to so far, as tables and a page."""

    params: Params
    data: Path
    reports: dict[str, Report] = field(default_factory=dict)
    """Of the stages that ended well, in order."""
    busy: dict[str, str] = field(default_factory=dict)
    """Of the stages that ran: how busy the GPUs were meanwhile."""
    ids: dict[str, UUID] = field(default_factory=dict)

    def renew(self) -> None:
        """After each stage, also one that failed."""
        self._table("funnel", tables.funnel(self.reports), "What every stage took, kept and dropped, by reason")
        self._table("stages", tables.stages(self.reports, self.busy), "Time and GPU busy share of every stage")
        self._table("yield-and-cost", tables.totals(self.reports, self.params, self.data), "Yield, and what models cost so far")

    def page(self, published: list[str]) -> None:
        """The run's report; renewed once it is known where things were published."""
        text = tables.page(self.reports, self.busy, self.params, self.data, published)
        if "report" in self.ids:
            self._renew("report", text)
        else:
            self.ids["report"] = create_markdown_artifact(text, key="report", description="What was made, and where it is")

    def _table(self, key: str, rows: list[tables.Row], description: str) -> None:
        if key in self.ids:
            self._renew(key, json.dumps(rows))
        else:
            self.ids[key] = create_table_artifact(rows, key=key, description=description)

    def _renew(self, key: str, content: str) -> None:
        get_client(sync_client=True).update_artifact(self.ids[key], ArtifactUpdate(data=content))
