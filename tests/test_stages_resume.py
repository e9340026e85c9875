"""Builds that are killed go on: the same results as undisturbed, whatever moment it was."""

import os
import random
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from conftest import STAGE_NAMES, Project

from ops6k import runner
from ops6k.errors import AlreadyBuilding
from ops6k.params import load
from ops6k.stages import BY_NAME


def _files(project: Project) -> int:
    """Files in the data folder; how far a build has come, however fast the machine is."""
    return sum(len(files) for _, _, files in os.walk(project.data))


def _kill_at(project: Project, files: int) -> int:
    """Starts a build and kills it -9 once so many files stand; what the process ended with."""
    build = project.start("build", TINY_SHARD_S="0.3")
    while build.poll() is None and _files(project) < files:
        time.sleep(0.002)
    build.send_signal(signal.SIGKILL)
    build.communicate()
    return build.returncode


def test_a_build_killed_again_and_again_ends_with_what_an_undisturbed_one_makes(project: Project):
    project.ops6k("build")
    undisturbed = project.outputs()
    for name in ("candidates", "verdicts", "matches", "dataset", "agent", "report", ".work"):
        shutil.rmtree(project.data / name)
    # Of 47 files at the end the screen's shards, 0.3 s each, are the 16th to the 21st.
    moments = sorted(random.Random(0).sample(range(8, 20), 3))
    ends = [_kill_at(project, files) for files in moments]
    assert ends == [-signal.SIGKILL] * 3
    assert project.outputs() != undisturbed
    project.ops6k("build")
    assert project.outputs() == undisturbed


def test_a_killed_screen_does_no_shard_twice(project: Project):
    build = project.start("build", TINY_SHARD_S="0.2")
    shards = project.data / ".work" / "screen"
    while len(done := [path for path in shards.rglob("*.parquet") if not path.name.startswith(".")]) < 2:
        time.sleep(0.01)
    build.kill()
    build.communicate()
    written = {path: path.stat().st_mtime_ns for path in done}
    project.ops6k("build")
    assert {path: path.stat().st_mtime_ns for path in written} == written


def test_the_lock_of_a_killed_build_is_gone(project: Project):
    build = project.start("build", TINY_SHARD_S="5")
    lock = project.data / ".work" / "lock"
    while not (lock.exists() and lock.read_text(encoding="utf-8")):
        time.sleep(0.01)
    build.kill()
    build.communicate()
    assert runner.holder(project.data) is None
    with runner.locked(project.data):
        assert runner.holder(project.data) == f"process {os.getpid()}"


def test_a_lock_lets_nobody_else_in(tmp_path: Path):
    with (
        runner.locked(tmp_path),
        pytest.raises(AlreadyBuilding, match=f"process {os.getpid()} is building here"),
        runner.locked(tmp_path),
    ):
        pass
    with runner.locked(tmp_path):
        pass


def test_a_stamp_is_not_believed_when_the_output_is_gone_or_half_there(project: Project):
    project.ops6k("build")
    project.ran()
    shutil.rmtree(project.data / "matches")
    (project.data / "agent" / "agent.json").unlink()
    project.ops6k("build")
    assert project.ran() == ["dedup", "train"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"null", b'{"outputs"'])
def test_a_damaged_stamp_makes_its_stage_run_again(project: Project, content: bytes):
    project.ops6k("build", "--until", "screen")
    project.ran()
    (stamp,) = (project.data / ".work" / "stamps" / "screen").iterdir()
    stamp.write_bytes(content)
    project.ops6k("build", "--until", "screen")
    assert project.ran() == ["screen"]


def test_a_clock_that_jumps_back_a_year_changes_nothing(project: Project):
    project.ops6k("build")
    for path in project.data.rglob("*"):
        os.utime(path, (time.time() + 3e7, time.time() + 3e7))
    project.ran()
    project.ops6k("build")
    assert project.ran() == []


def test_returning_to_earlier_parameters_finds_the_stamp_of_an_output_brought_back(project: Project):
    project.ops6k("build", "--until", "screen")
    shutil.copytree(project.data / "verdicts", project.root / "kept")
    project.ops6k("build", "--until", "screen", "--set", "screen.window_ms=[2, 5]")
    shutil.rmtree(project.data / "verdicts")
    shutil.move(project.root / "kept", project.data / "verdicts")  # as DVC does from its cache
    project.ran()
    project.ops6k("build", "--until", "screen")
    assert project.ran() == []


def test_the_report_of_a_committed_folder_is_kept_out_of_it(project: Project):
    project.ops6k("harvest")
    assert [path.name for path in (project.root / "seed_ops").iterdir()] == ["torch.jsonl"]
    params = load(project.root / "params.yaml")
    assert runner.read_report(BY_NAME["harvest"], params, project.data).kept == 5


def test_seconds_in_a_report_do_not_make_later_stages_run(project: Project):
    project.ops6k("build")
    project.ran()
    project.ops6k("screen")
    project.ops6k("build")
    assert project.ran() == ["screen"]


def test_orchestration_costs_little_against_calling_the_stages_directly(project: Project):
    """Processor seconds of one process each, imports included: those of others on the machine do not count."""
    direct = (
        "from pathlib import Path; from ops6k.params import load; from ops6k.stages import STAGES\n"
        "for stage in STAGES: stage.run(load(Path('params.yaml')), Path('data'))"
    )

    def cpu_seconds(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        project.run(sys.executable, *words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    plain = min(cpu_seconds("-c", direct) for _ in range(2))
    assert cpu_seconds("-m", "ops6k", "build") < plain + 1.0
    assert project.ran() == [*STAGE_NAMES] * 3
