"""The same stages under DVC: real DVC in a real git repository, over stand-in stages."""

import json
import re
import shutil

import pytest
from conftest import STAGE_NAMES, Project

pytestmark = pytest.mark.slow


def test_repro_runs_every_stage_and_a_second_one_does_nothing(git_project: Project):
    shutil.rmtree(git_project.data / ".work")
    git_project.dvc("repro")
    assert git_project.ran() == list(STAGE_NAMES)
    git_project.dvc("repro")
    assert git_project.ran() == []
    assert "up to date" in git_project.dvc("status").stdout


def test_a_harvest_that_is_up_to_date_is_not_made_again_by_dvc(git_project: Project):
    git_project.dvc("repro", "fuse")
    assert git_project.ran() == ["fuse"]


def test_seed_ops_stay_in_git_and_unchanged(git_project: Project):
    git_project.dvc("repro", "fuse")
    assert git_project.run("git", "status", "--short", "seed_ops").stdout == ""
    assert git_project.run("git", "ls-files", "seed_ops").stdout.split() == ["seed_ops/torch.jsonl"]


def test_a_changed_threshold_runs_only_what_depends_on_it(built_project: Project):
    built_project.set("rows: 6", "rows: 3")
    built_project.dvc("repro")
    assert built_project.ran() == ["assemble", "train", "report"]


def test_a_changed_overlay_of_another_preset_runs_nothing_but_what_reads_it(built_project: Project):
    built_project.set("fuse: {candidates: 8}", "fuse: {candidates: 9}")
    built_project.dvc("repro")
    assert built_project.ran() == ["fuse", "resize"]  # which makes the same candidates


def test_a_build_finds_done_what_dvc_did_and_dvc_what_a_build_did(built_project: Project):
    built_project.ops6k("build")
    assert built_project.ran() == []
    built_project.set("rows: 6", "rows: 3")
    built_project.ops6k("build")
    assert built_project.ran() == ["assemble", "train", "report"]
    built_project.dvc("commit", "-f", "-q")
    built_project.dvc("repro")
    assert built_project.ran() == []


def test_params_metrics_and_plots_are_shown(built_project: Project):
    built_project.commit("built")
    kept = json.loads((built_project.data / "report" / "metrics.json").read_text(encoding="utf-8"))["screen"]["kept"]
    built_project.set("window_ms: [1, 6]", "window_ms: [2, 5]")
    built_project.dvc("repro")
    assert re.search(r"screen\.window_ms\s*\|?\s*\[1, 6\]\s*\|?\s*\[2, 5\]", built_project.dvc("params", "diff").stdout)
    shown = json.loads(built_project.dvc("metrics", "show", "--json").stdout)
    now = shown[""]["data"]["data/report/metrics.json"]["data"]["screen"]["kept"]
    assert now < kept
    assert re.search(rf"screen\.kept\s*\|?\s*{kept}\s*\|?\s*{now}", built_project.dvc("metrics", "diff").stdout)
    built_project.dvc("plots", "show", "-o", "plots")
    page = (built_project.root / "plots" / "index.html").read_text(encoding="utf-8")
    assert "What became of the candidates" in page
    assert "Learning curve" in page


def test_an_experiment_with_another_window_runs(built_project: Project):
    built_project.dvc("exp", "run", "-S", "screen.window_ms=[2,5]")
    assert built_project.ran()[0] == "screen"
    assert "window_ms" in built_project.run("git", "diff", "params.yaml").stdout


def test_a_failing_stage_fails_repro_and_the_next_one_goes_on_there(git_project: Project):
    (git_project.root / "fail-assemble").write_text("WorkerError", encoding="utf-8")
    failed = git_project.dvc("repro", check=False)
    assert failed.returncode != 0
    assert "error: assemble: made to fail" in failed.stderr
    git_project.ran()
    (git_project.root / "fail-assemble").unlink()
    git_project.dvc("repro")
    assert git_project.ran() == ["assemble", "train", "report"]
