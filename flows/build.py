"""The Prefect flow: the same table of stages, with retries, progress and artifacts; `python flows/build.py` serves it.

Prefect says when, retries and what happened; what is up to date is decided by the stamps that every caller shares, so
Prefect's own result cache is off. Cancelled or failed runs leave their work: the next run, from anywhere, goes on.

Tags `gpu` and `llm`, and so their concurrency limits, belong to stages, not to shards: a stage keeps the device and the rate
of requests to itself for as long as its one sandbox or client is open, whatever shard is at work in it.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a worker loads this file by its path

from prefect import flow, get_run_logger, task  # noqa: E402
from prefect.cache_policies import NO_CACHE  # noqa: E402
from prefect.client.schemas.objects import State, TaskRun  # noqa: E402
from prefect.tasks import Task, exponential_backoff  # noqa: E402

from flows.artifacts import Board, Progress  # noqa: E402
from flows.gpu import watched  # noqa: E402
from ops6k import progress, runner  # noqa: E402
from ops6k.errors import EndpointError, HubError, WorkerError  # noqa: E402
from ops6k.params import Params, load  # noqa: E402
from ops6k.records import Report  # noqa: E402
from ops6k.stages import STAGES, Stage  # noqa: E402

_MAY_PASS = (WorkerError, EndpointError, HubError, ConnectionError, TimeoutError)
_RETRY = exponential_backoff(backoff_factor=5)

Preset = Literal["demo", "paper", "full"]


def _may_pass(_task: Task, _run: TaskRun, state: State) -> bool:
    """Only what is ours or the network's is tried again."""
    return isinstance(state.result(raise_on_failure=False), _MAY_PASS)


def _stage_task(stage: Stage, board: Board) -> Task:
    """The task of one stage. It takes plain values, which the UI shows, and its caller holds the data folder's lock."""

    @task(
        name=stage.name,
        description=stage.does,
        tags=stage.tags,
        retries=stage.retries,
        retry_delay_seconds=_RETRY(stage.retries) if stage.retries else None,
        retry_jitter_factor=1.0,
        retry_condition_fn=_may_pass,
        cache_policy=NO_CACHE,
        persist_result=False,
    )
    def run(preset: str | None, settings: list[str]) -> Report:
        params, data = _project(preset, settings)
        done = runner.read_report(stage, params, data) if runner.up_to_date(stage, params, data) else None
        if done is not None:
            get_run_logger().info("%s is up to date", stage.name)
            return done
        token = progress.display.set(Progress())
        with watched() as busy:
            try:
                return runner.perform(stage, params, data)
            finally:
                progress.display.reset(token)
                board.busy[stage.name] = str(busy)

    return run


def _project(preset: str | None, settings: list[str]) -> tuple[Params, Path]:
    return load(ROOT / "params.yaml", preset=preset, settings=settings), ROOT / "data"


@flow(name="ops6k", description="Harvest, fuse, screen, dedup, assemble, train and report; publish where told to.")
def build(
    preset: Preset | None = None,
    settings: list[str] = [],  # noqa: B006 - never changed; Prefect shows it as the default
    publish_to: str | None = None,
    fresh: bool = False,
) -> None:
    """Builds data set, agent and report; goes on where an earlier run stopped.

    Args:
        preset: Overlay of params.yaml - demo, paper or full. Empty takes what params.yaml says.
        settings: Overrides of single parameters, such as screen.timeout_s=30.
        publish_to: Hub organisation or user to publish data set and agent to. Empty publishes nothing.
        fresh: Start anew instead of going on. Answers of an LLM that were paid for are kept.
    """
    params, data = _project(preset, settings)
    with runner.locked(data):
        if fresh:
            runner.clear(STAGES, params, data)
        board = Board(params, data)
        for stage in STAGES:
            try:
                board.reports[stage.name] = _stage_task(stage, board)(preset, settings)
            finally:
                board.renew()
        board.page([])
        _record(params)
        published = _publish(preset, settings, publish_to)
        if published:
            board.page(published)


def _publish(preset: str | None, settings: list[str], to: str | None) -> list[str]:
    """The last step of a build: lines that say what went where. Says so where nothing is to be published."""
    params, _ = _project(preset, settings)
    owner = to or params.publish.to
    if owner is None:
        get_run_logger().info("nothing is published: publish_to names no Hub organisation or user")
        return []
    return _publish_task(preset, settings, owner)


@task(
    name="publish",
    tags=["hub"],
    retries=2,
    retry_delay_seconds=_RETRY(2),
    retry_jitter_factor=1.0,
    retry_condition_fn=_may_pass,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def _publish_task(preset: str | None, settings: list[str], to: str) -> list[str]:
    from ops6k.publish import publish

    lines = list(publish(*_project(preset, settings), to=to))
    for line in lines:
        get_run_logger().info(line)
    return lines


def _record(params: Params) -> None:
    """Tells DVC what was made, so that `dvc status` is clean, where params.yaml alone says how it was made."""
    log = get_run_logger()
    if not (ROOT / ".dvc").is_dir() or not (ROOT / "dvc.yaml").is_file():
        log.info("no DVC project here: nothing recorded")
    elif params != load(ROOT / "params.yaml"):
        log.warning(
            "not recorded in DVC: preset or settings differ from params.yaml; write them there to have `dvc status` clean"
        )
    else:
        done = subprocess.run(
            [sys.executable, "-m", "dvc", "commit", "-f", "-q"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        log.info("recorded in DVC" if done.returncode == 0 else f"dvc commit failed: {done.stderr.strip()}")


if __name__ == "__main__":
    os.chdir(ROOT)
    build.serve(name="build", limit=1)
