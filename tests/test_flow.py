"""The Prefect flow on a real local server: served deployment, real runs as a person starts them, over stand-in stages.

One server and one served deployment for all of it: their start takes longer than everything else.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import STAGE_NAMES, Project

from ops6k import runner

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@dataclass(frozen=True)
class Served:
    """A project whose flow is served by a local Prefect server."""

    project: Project
    url: str
    environment: dict[str, str]

    def prefect(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.project.run(sys.executable, "-m", "prefect", *words, check=check, **self.environment)

    def run(self, *parameters: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`prefect deployment run ops6k/build --watch`."""
        given = [word for parameter in parameters for word in ("--param", parameter)]
        return self.prefect("deployment", "run", "ops6k/build", *given, "--watch", check=check)

    def ask(self, path: str, body: dict[str, object]) -> list[dict]:
        """An answer of the server's API, newest first."""
        request = urllib.request.Request(
            f"{self.url}/{path}/filter", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def last_run(self) -> dict:
        return self.ask("flow_runs", {"sort": "START_TIME_DESC", "limit": 1})[0]

    def log(self, run: dict) -> str:
        lines = self.ask("logs", {"logs": {"flow_run_id": {"any_": [run["id"]]}}, "limit": 200})
        return "\n".join(line["message"] for line in lines)

    def tasks(self, run: dict) -> list[dict]:
        return self.ask("task_runs", {"task_runs": {"flow_run_id": {"any_": [run["id"]]}}, "limit": 100})

    def task_states(self, run: dict) -> dict[str, str]:
        return {one["name"].rpartition("-")[0]: one["state_type"] for one in self.tasks(run) if "shard" not in one["tags"]}

    def shards(self, run: dict) -> dict[str, dict]:
        """Task runs of shards, by name."""
        return {one["name"]: one for one in self.tasks(run) if "shard" in one["tags"]}

    def artifacts(self, run: dict) -> dict[str, str]:
        """What a run's artifacts hold, by key; of each key there is one."""
        found = self.ask("artifacts", {"artifacts": {"flow_run_id": {"any_": [run["id"]]}}})
        assert len({artifact["key"] for artifact in found}) == len(found)
        return {artifact["key"]: artifact["data"] for artifact in found}


@pytest.fixture(scope="module")
def served(git_template: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    project = git_template.copy(tmp_path_factory.mktemp("flow") / "project")
    port = _free_port()
    url = f"http://127.0.0.1:{port}/api"
    environment = {
        "PREFECT_API_URL": url,
        "PREFECT_HOME": str(tmp_path_factory.mktemp("prefect")),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_TASKS_TAG_CONCURRENCY_SLOT_WAIT_SECONDS": "1",
        "TINY_SHARD_S": "0.05",
    }
    server = _start(project, environment, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port))
    try:
        _wait(lambda: _healthy(url), 180, "the server answers")
        flow = _start(project, environment, "flows/build.py")
        try:
            one = Served(project, url, environment)
            _wait(lambda: one.ask("deployments", {}), 120, "the deployment is there")
            yield one
        finally:
            _stop(flow)
    finally:
        _stop(server)


def _start(project: Project, environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    with (project.root.parent / f"{project.root.name}-{Path(words[-1]).name}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, *words],
            cwd=project.root,
            env=project.environment | environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5):
            return True
    except OSError:
        return False


def _wait(ready: Callable[[], object], timeout_s: float, what: str) -> None:
    ends = time.monotonic() + timeout_s
    while not ready():
        assert time.monotonic() < ends, f"waited {timeout_s} s: {what}"
        time.sleep(0.3)


@pytest.fixture(scope="module")
def first_run(served: Served) -> dict:
    served.run()
    return served.last_run()


@pytest.fixture(autouse=True)
def _ran_is_empty(first_run: dict, served: Served) -> None:
    served.project.ran()


def test_a_deployment_run_builds_everything_and_leaves_dvc_clean(first_run: dict, served: Served):
    assert served.task_states(first_run) == dict.fromkeys(STAGE_NAMES, "COMPLETED")
    assert all((served.project.data / name).exists() for name in ("dataset", "agent", "report"))
    assert "up to date" in served.project.dvc("status").stdout
    assert served.project.run("git", "status", "--short", "seed_ops", "dvc.yaml", "params.yaml").stdout == ""


def test_a_run_that_publishes_nothing_says_so(first_run: dict, served: Served):
    assert "nothing is published: publish_to names no" in served.log(first_run)


def test_artifacts_show_funnel_yield_time_and_progress(first_run: dict, served: Served):
    found = served.artifacts(first_run)
    stages, funnel, totals = (json.loads(found[key]) for key in ("stages", "funnel", "yield-and-cost"))
    assert [row["stage"] for row in stages] == list(STAGE_NAMES)
    assert {row["GPU busy"] for row in stages} == {"-" if row["state"] == "was up to date" else _busy() for row in stages}
    verdicts = {row["what"]: row["count"] for row in funnel if row["stage"] == "screen"}
    assert verdicts["taken"] == 12 == verdicts["kept"] + verdicts["out_of_range/too_fast"]
    assert {row["what"]: row["value"] for row in totals} == {
        "verdicts": 12,
        "accepted by the screen": verdicts["kept"],
        "yield of the screen": f"{verdicts['kept'] / 12:.1%}",
        "left by dedup": verdicts["kept"],
        "rows of the data set": min(6, verdicts["kept"]),
        "asked of models": "nothing",
    }
    assert float(found["progress-screen"]) == 100.0


def _busy() -> str:
    return "too short to measure" if shutil.which("nvidia-smi") else "no GPU"


def test_the_report_says_where_the_results_are_and_what_it_took(first_run: dict, served: Served):
    page = served.artifacts(first_run)["report"]
    assert all(f"`{served.project.data / name}" in page for name in ("dataset", "agent", "report/index.html"))
    assert "| screen | out_of_range/too_fast |" in page and "| asked of models | nothing |" in page


def test_shards_are_task_runs_below_their_stage_which_alone_has_its_tags(first_run: dict, served: Served):
    shards = served.shards(first_run)
    (screen,) = (one for one in served.tasks(first_run) if one["name"].startswith("screen-") and "shard" not in one["tags"])
    assert sorted(shards) == [f"screen-{number:04d}" for number in range(6)]
    assert all(
        shard["task_inputs"]["__parents__"] == [{"input_type": "task_run", "id": screen["id"]}] for shard in shards.values()
    )
    assert all(shard["state"]["type"] == "COMPLETED" and "accepted" in shard["state"]["message"] for shard in shards.values())
    assert all(screen["start_time"] < shard["start_time"] < shard["end_time"] for shard in shards.values())
    assert screen["tags"] == ["gpu"] and all(shard["tags"] == ["shard"] for shard in shards.values())


def test_parameters_are_typed_described_and_have_defaults(served: Served):
    (deployment,) = served.ask("deployments", {})
    assert deployment["name"] == "build"
    parameters = deployment["parameter_openapi_schema"]["properties"]
    assert list(parameters) == ["preset", "settings", "publish_to", "fresh"]
    assert all(parameter["description"] and "default" in parameter for parameter in parameters.values())
    assert parameters["preset"]["anyOf"][0]["enum"] == ["demo", "paper", "full"]
    assert served.run("preset=frobnicate", check=False).returncode != 0


def test_settings_beyond_params_yaml_are_built_but_not_passed_off_as_its_results(first_run: dict, served: Served):
    served.run('settings=["assemble.rows=3"]')
    assert served.project.ran() == ["assemble", "train", "report"]
    assert "not recorded in DVC" in served.log(served.last_run())
    served.run()
    assert served.project.ran() == ["assemble", "train"]  # the report says the same, and its stamp is still there
    assert "up to date" in served.project.dvc("status").stdout
    served.project.ops6k("build")
    served.project.dvc("repro")
    assert served.project.ran() == []


def test_a_failed_run_goes_on_where_it_failed_and_only_what_may_pass_is_tried_again(first_run: dict, served: Served):
    failure = served.project.root / "fail-screen"
    failure.write_text("TargetMismatch", encoding="utf-8")
    assert served.run("fresh=true", check=False).returncode == 1
    assert served.last_run()["state_type"] == "FAILED"
    assert "screen: made to fail" in served.log(served.last_run())
    assert served.project.ran() == ["harvest", "fuse", "screen"]
    left = served.artifacts(served.last_run())
    assert [row["state"] for row in json.loads(left["stages"])] == ["done", "done", "did not end"]
    assert [row["stage"] for row in json.loads(left["funnel"])] == ["harvest"] * 3 + ["fuse"] * 2
    failure.write_text("WorkerErrorOnce", encoding="utf-8")
    served.run()
    assert served.project.ran() == ["screen", "screen", "resize", "rescreen", "dedup", "assemble", "train", "report"]


def test_a_cancelled_run_goes_on_where_it_was_cancelled(first_run: dict, served: Served):
    undisturbed = served.project.outputs()
    slow = served.project.root / "shard_s"
    slow.write_text("2", encoding="utf-8")
    shards = served.project.data / ".work" / "screen"
    served.prefect("deployment", "run", "ops6k/build", "--param", "fresh=true")
    _wait(lambda: served.project.ran()[-1:] == ["screen"], 90, "the screen begins")
    _wait(lambda: any(shards.rglob("*.parquet")), 60, "the screen is at work")
    run = served.last_run()
    served.prefect("flow-run", "cancel", run["id"])
    _wait(lambda: served.last_run()["state_type"] == "CANCELLED", 60, "the run is cancelled")
    _wait(lambda: runner.holder(served.project.data) is None, 60, "the run lets go of the folder")
    states = [shard["state_type"] for _, shard in sorted(served.shards(run).items())]
    assert states == ["COMPLETED"] * (len(states) - 1) + ["CRASHED"]
    slow.unlink()
    served.project.ran()
    served.run()
    assert served.project.ran() == ["screen", "resize", "rescreen", "dedup", "assemble", "train", "report"]
    assert served.project.outputs() == undisturbed


def test_a_run_in_a_folder_where_a_build_is_at_work_fails_in_one_line(served: Served):
    build = served.project.start("build", "--fresh", TINY_SHARD_S="10")
    _wait(lambda: (served.project.data / ".work" / "screen").exists() or build.poll() is not None, 60, "the build is at work")
    assert served.run(check=False).returncode == 1
    assert f"process {build.pid} is building here" in served.log(served.last_run())
    build.terminate()
    build.communicate(timeout=60)


def test_two_runs_that_share_a_limit_of_one_gpu_never_hold_it_at_once(served: Served, tmp_path: Path):
    served.prefect("concurrency-limit", "create", "gpu", "1")
    projects = [served.project.copy(tmp_path / name) for name in ("one", "two")]
    flow = ("-c", "from flows.build import build; build(fresh=True)")
    runs = [_start(project, served.environment | {"TINY_SHARD_S": "0.5"}, *flow) for project in projects]
    assert [run.wait(120) for run in runs] == [0, 0]
    both = served.ask("flow_runs", {"sort": "START_TIME_DESC", "limit": 2})
    assert max(run["start_time"] for run in both) < min(run["end_time"] for run in both)

    def held() -> list[tuple[str, str]]:
        """When it was held, from and to; the server learns it a moment after the fact."""
        tasks = [one for run in both for one in served.tasks(run) if "gpu" in one["tags"]]
        return sorted((one["start_time"], one["end_time"]) for one in tasks if one["end_time"])

    _wait(lambda: len(held()) == 6, 30, "the ends of both runs' gpu tasks are known")
    assert all(end <= start for (_, end), (start, _) in pairwise(held()))
