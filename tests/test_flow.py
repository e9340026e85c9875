"""The Prefect flow on a real local server: served deployment, real runs as a person starts them, over stand-in stages.

One server and one served deployment for all of it: their start takes longer than everything else.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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

    def task_states(self, run: dict) -> dict[str, str]:
        tasks = self.ask("task_runs", {"task_runs": {"flow_run_id": {"any_": [run["id"]]}}, "limit": 100})
        return {task["name"].rpartition("-")[0]: task["state_type"] for task in tasks}


@pytest.fixture(scope="module")
def served(git_template: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    project = git_template.copy(tmp_path_factory.mktemp("flow") / "project")
    port = _free_port()
    url = f"http://127.0.0.1:{port}/api"
    environment = {
        "PREFECT_API_URL": url,
        "PREFECT_HOME": str(tmp_path_factory.mktemp("prefect")),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
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
    with (project.root.parent / f"{Path(words[-1]).name}.log").open("wb") as log:
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


def test_artifacts_show_funnel_progress_and_where_the_results_are(first_run: dict, served: Served):
    found = served.ask("artifacts", {"artifacts": {"flow_run_id": {"any_": [first_run["id"]]}}})
    by_key = {artifact["key"]: artifact for artifact in found}
    assert {"stages", "funnel", "report", "progress-screen"} <= set(by_key)
    assert [row["stage"] for row in json.loads(by_key["stages"]["data"])] == list(STAGE_NAMES)
    assert float(by_key["progress-screen"]["data"]) == 100.0


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
