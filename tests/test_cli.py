"""The command line as a person uses it: in a process of its own, over stand-in stages."""

import os
import re
import resource
import signal
import sys
import time
from pathlib import Path

import pytest
from conftest import STAGE_NAMES, Project

from ops6k.console import ending
from ops6k.records import Funnel, Report


def _line(text: str) -> str:
    (line,) = text.splitlines()
    return line


def test_help_takes_less_than_half_a_second_of_processor_and_names_every_stage(project: Project):
    seconds = []
    for _ in range(3):  # processor time too is longer where another process shares the core
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = project.ops6k("--help").stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.5
    assert all(re.search(rf"\b{name}\b", text) for name in (*STAGE_NAMES, "build", "status", "show", "judge"))


def test_help_imports_neither_torch_nor_pyarrow(project: Project):
    code = "import sys; sys.argv[1:] = ['--help']; import atexit; atexit.register(lambda: print('torch' in sys.modules, 'pyarrow' in sys.modules, 'typer' in sys.modules)); from ops6k.cli import main; main()"
    assert project.run(sys.executable, "-c", code).stdout.splitlines()[-1] == "False False True"


def test_build_runs_every_stage_once_and_says_where_the_results_are(project: Project):
    done = project.ops6k("build")
    assert project.ran() == list(STAGE_NAMES)
    for place in ("data/dataset", "data/agent", "data/report/index.html"):
        assert place in done.stdout
        assert (project.root / place).exists()
    assert len(done.stdout.partition("Try next:")[2].strip().splitlines()) == 3


def test_a_second_build_does_nothing(project: Project):
    project.ops6k("build")
    project.ran()
    before = project.outputs()
    project.ops6k("build")
    assert project.ran() == []
    assert project.outputs() == before


@pytest.mark.parametrize(
    ("setting", "again"),
    [
        ("screen.window_ms=[2, 5]", ["screen", "resize", "rescreen", "dedup", "assemble", "train", "report"]),
        ("assemble.rows=3", ["assemble", "train", "report"]),
        ("train.tasks=1", ["train"]),  # the stand-in makes the same agent: the report stays up to date
        ("publish.private=false", []),
    ],
)
def test_a_changed_parameter_runs_only_what_depends_on_it(project: Project, setting: str, again: list[str]):
    project.ops6k("build")
    project.ran()
    project.ops6k("build", "--set", setting)
    assert project.ran() == again


def test_a_preset_that_changes_nothing_for_a_stage_does_not_run_it(project: Project):
    project.ops6k("build", "--until", "fuse")
    project.ran()
    project.ops6k("build", "--until", "fuse", "--preset", "demo")
    assert project.ran() == ["fuse"]


def test_changed_code_of_a_stage_runs_it_again(project: Project):
    project.ops6k("build", "--until", "dedup")
    project.ran()
    with (project.root / "ops6k" / "dedup" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    project.ops6k("build", "--until", "dedup")
    assert project.ran() == ["dedup"]


def test_an_output_that_someone_changed_is_made_again(project: Project):
    project.ops6k("build")
    before = project.outputs()
    project.ran()
    (project.data / "agent" / "agent.json").write_text("{}", encoding="utf-8")
    project.ops6k("build")
    assert project.ran() == ["train"]
    assert project.outputs() == before


def test_until_stops_after_that_stage(project: Project):
    project.ops6k("build", "--until", "screen")
    assert project.ran() == ["harvest", "fuse", "screen"]


def test_fresh_starts_anew_but_keeps_paid_answers_and_committed_folders(project: Project):
    project.ops6k("build")
    answer = project.data / ".work" / "llm" / "answer.json"
    answer.parent.mkdir()
    answer.write_text("{}", encoding="utf-8")
    project.ran()
    project.ops6k("build", "--fresh", "--until", "fuse")
    assert project.ran() == ["harvest", "fuse"]
    assert answer.exists()
    assert (project.data / "benchmarks" / "kernelbench.parquet").exists()
    assert not (project.data / "verdicts").exists()
    assert not (project.data / ".work" / "screen").exists()


def test_one_stage_by_name_runs_that_stage(project: Project):
    project.ops6k("build", "--until", "fuse")
    project.ran()
    assert project.ops6k("fuse").stdout.startswith("fuse: 12 taken, 12 kept")
    assert project.ran() == ["fuse"]


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({}, "screen: 50 taken, 9 kept in 1.5 s"),
        ({"a": 1, "b": 3}, "screen: 50 taken, 9 kept in 1.5 s (3 b, 1 a)"),
        ({"a": 1, "b": 3, "c": 20, "d": 2, "e": 15}, "screen: 50 taken, 9 kept in 1.5 s (20 c, 15 e, 3 b, 3 for other reasons)"),
    ],
)
def test_the_line_at_the_end_of_a_stage_leaves_no_reason_out(counts: dict[str, int], says: str):
    assert ending(Report("screen", 50, 9, tuple(Funnel(*pair) for pair in counts.items()), seconds=1.5)) == says


def test_results_can_go_to_another_folder(project: Project):
    project.ops6k("build", "--data", "elsewhere")
    assert (project.root / "elsewhere" / "dataset" / "data" / "train.parquet").exists()
    assert not (project.data / "dataset").exists()


@pytest.mark.parametrize(
    ("words", "code", "names"),
    [
        (["frobnicate"], 2, "frobnicate"),
        (["build", "--frobnicate"], 2, "--frobnicate"),
        (["build", "--until", "frobnicate"], 1, "frobnicate"),
        (["build", "--preset", "frobnicate"], 1, "frobnicate"),
        (["build", "--set", "screen.frobnicate=1"], 1, "frobnicate"),
        (["build", "--set", "screen.timeout_s=soon"], 1, "timeout_s"),
        (["build", "--set", "mix.depth={1: 0.5}"], 1, "depth"),
        (["build", "--set", "frobnicate"], 1, "frobnicate"),
        (["build", "--params", "nowhere/params.yaml"], 1, "nowhere/params.yaml"),
        (["screen"], 1, "ops6k fuse"),
        (["dedup"], 1, "data/candidates"),
        (["show", "0123456789abcdef"], 1, "0123456789abcdef"),
        (["calibrate"], 2, "--name"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_leaves_nothing_behind(project: Project, words: list[str], code: int, names: str):
    before = project.outputs()
    done = project.ops6k(*words, check=False)
    assert done.returncode == code
    assert _line(done.stderr).startswith("error: ")
    assert names in done.stderr
    assert done.stdout == ""
    assert project.outputs() == before
    assert project.ran() == []


def test_a_missing_benchmark_index_stops_the_build_before_dedup_and_says_how_to_make_it(project: Project):
    (project.data / "benchmarks" / "kernelbench.parquet").unlink()
    done = project.ops6k("build", check=False)
    assert done.returncode == 1
    assert "kernelbench.parquet" in done.stderr.splitlines()[-1]
    assert "ops6k benchmark index" in done.stderr.splitlines()[-1]
    assert not (project.data / "matches").exists()


def test_an_unreadable_shard_is_one_line_that_names_it(project: Project):
    project.ops6k("build", "--until", "fuse")
    (project.data / "candidates" / "candidates.parquet").write_bytes(b"not Parquet")
    done = project.ops6k("screen", check=False)
    assert done.returncode == 1
    assert "candidates.parquet" in _line(done.stderr)


def test_a_bug_keeps_its_traceback(project: Project):
    (project.root / "ops6k" / "fuse" / "__init__.py").write_text(
        "def run(params, data):\n    return {}['bug']\n", encoding="utf-8"
    )
    done = project.ops6k("build", check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "KeyError: 'bug'" in done.stderr


def test_a_stage_that_fails_stops_the_build_and_the_next_one_goes_on_there(project: Project):
    (project.root / "fail-dedup").write_text("WorkerError", encoding="utf-8")
    done = project.ops6k("build", check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "error: dedup: made to fail")
    project.ran()
    (project.root / "fail-dedup").unlink()
    project.ops6k("build")
    assert project.ran() == ["dedup", "assemble", "train", "report"]


@pytest.mark.parametrize(("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_a_signal_ends_a_build_with_one_line(project: Project, number: int, code: int, word: str):
    build = project.start("build", TINY_SHARD_S="5")
    _wait_for(project.root / "ran.log", "screen")
    build.send_signal(number)
    _, noise = build.communicate(timeout=30)
    assert build.returncode == code
    assert noise.splitlines()[-1].startswith(f"error: {word}")
    assert "Traceback" not in noise


def test_a_second_build_in_the_same_folder_says_so_and_stops(project: Project):
    slow = project.root / "shard_s"
    slow.write_text("5", encoding="utf-8")
    first = project.start("build")
    _wait_for(project.root / "ran.log", "screen")
    second = project.ops6k("build", check=False)
    assert second.returncode == 1
    assert f"process {first.pid} is building here" in _line(second.stderr)
    assert re.search(rf"process {first.pid} is building here: screen \d+/12 ", project.ops6k("status").stdout)
    slow.unlink()
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert project.ran() == list(STAGE_NAMES)
    assert "nobody is building here" in project.ops6k("status").stdout
    assert not (project.data / ".work" / "now").exists()


def test_status_says_what_is_done_and_why_the_rest_would_run(project: Project):
    project.ops6k("build", "--until", "screen")
    rows = {
        line.split()[0]: line
        for line in project.ops6k("status", "--set", "screen.window_ms=[2, 5]").stdout.splitlines()
        if line.strip()
    }
    assert "done" in rows["fuse"]
    assert "params changed" in rows["screen"]
    assert "out_of_range/too_fast" in rows["screen"]
    assert "not made yet" in rows["dedup"]


def test_doctor_names_what_is_missing_and_how_to_mend_it_and_shows_no_token(project: Project):
    (project.data / "benchmarks" / "kernelbench.parquet").unlink()
    done = project.ops6k("doctor", check=False, HF_TOKEN="hf_secret", OPENAI_API_KEY="sk-secret")
    assert done.returncode == 1
    rows = {line.split()[1]: line for line in done.stdout.splitlines() if len(line.split()) > 1}
    assert "ops6k benchmark index" in rows["benchmark"]
    assert "fails" in rows["benchmark"]
    assert "present" in rows["Hub"]
    assert "secret" not in done.stdout + done.stderr


def test_show_tells_the_story_of_a_candidate_by_the_beginning_of_its_id(project: Project):
    from ops6k import store
    from ops6k.records import Verdict

    project.ops6k("build")
    verdict = store.read_rows(project.data / "verdicts" / "verdicts.parquet", Verdict)[0]
    text = project.ops6k("show", verdict.candidate_id[:8]).stdout
    for part in (verdict.candidate_id, "class Model(torch.nn.Module)", verdict.outcome.value, verdict.message):
        assert part in text


def test_show_asks_for_more_of_an_id_that_fits_several(project: Project):
    project.ops6k("build", "--until", "fuse")
    done = project.ops6k("show", "", check=False)
    assert done.returncode == 1
    assert "12 candidates begin so" in _line(done.stderr)


def test_output_into_a_closed_pipe_is_no_error(project: Project):
    done = project.run("bash", "-c", f"set -o pipefail; {sys.executable} -m ops6k --help | head -n 1 >/dev/null", check=False)
    assert "Traceback" not in done.stderr


def test_another_broken_pipe_is_a_fault(project: Project):
    package = project.root / "ops6k" / "screen" / "__init__.py"
    package.write_text("def run(params, data):\n    raise BrokenPipeError(32, 'a child went away')\n", encoding="utf-8")
    assert project.ops6k("build", check=False).returncode == 1


@pytest.mark.skipif(os.geteuid() != 0 and not Path("/usr/bin/unshare").exists(), reason="mounting a small file system needs root")
def test_a_full_disk_is_one_line_and_the_next_build_goes_on(project: Project):
    """A tmpfs of a few pages over the data folder, in a mount namespace of its own."""
    script = (
        "mkdir -p full && mount -t tmpfs -o size=24k none full && "
        f"{sys.executable} -m ops6k build --data full; echo code $? >&2; mount -o remount,size=8m full && {sys.executable} -m ops6k build --data full"
    )
    done = project.run("unshare", "--mount", "bash", "-c", script, check=False)
    if "unshare failed" in done.stderr or "permission denied" in done.stderr:
        pytest.skip("this machine does not allow mounting")
    first, _, second = done.stderr.partition("code 1\n")
    assert re.fullmatch(r"error: \S*full\S*: No space left on device", first.splitlines()[-1]), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, second


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_folder_is_one_line(project: Project):
    script = f"mkdir -p ro && mount -t tmpfs -o ro none ro && {sys.executable} -m ops6k build --data ro"
    done = project.run("unshare", "--mount", "bash", "-c", script, check=False)
    if "unshare failed" in done.stderr or "permission denied" in done.stderr:
        pytest.skip("this machine does not allow mounting")
    assert done.returncode == 1
    assert re.fullmatch(r"error: \S*ro\S*: Read-only file system", _line(done.stderr))


def _wait_for(log: Path, word: str, timeout_s: float = 60) -> None:
    ends = time.monotonic() + timeout_s
    while not log.exists() or word not in log.read_text(encoding="utf-8"):
        assert time.monotonic() < ends, f"{word} did not appear in {log}"
        time.sleep(0.02)
