"""What a Prefect run shows of cost, GPU and agent, computed without a server; nvidia-smi is a small program of the test's own."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from flows import tables
from flows.gpu import watched
from ops6k.fuse.llm.budget import Charge
from ops6k.fuse.llm.journal import Journal
from ops6k.params import Params, Price, load
from ops6k.records import Funnel, Report
from ops6k.store import write_json

ROOT = Path(__file__).resolve().parents[1]
REPORTS = {"screen": Report("screen", 8, 6, (Funnel("accepted", 6), Funnel("invalid/runtime", 2)), seconds=2.0)}


@pytest.fixture
def params() -> Params:
    found = load(ROOT / "params.yaml", preset="demo")
    prices = {"large": Price(input=2.0, output=8.0)}
    return replace(found, fuse=replace(found.fuse, llm=replace(found.fuse.llm, prices=prices, batch_price=0.5)))


def charge(data: Path, *charges: Charge) -> None:
    journal = Journal(data / ".work" / "llm" / "charges", Charge)
    for one in charges:
        journal.append(one)


def totals(params: Params, data: Path) -> dict[str, object]:
    return {row["what"]: row["value"] for row in tables.totals(REPORTS, params, data)}


def test_cost_so_far_is_that_of_the_latest_charge_of_every_try(params: Params, tmp_path: Path) -> None:
    charge(tmp_path, Charge(0, "a", "large", False, 9000, 4096), Charge(1, "b", "large", True, 1000, 500))
    charge(tmp_path, Charge(0, "a", "large", False, 1000, 500))
    found = totals(params, tmp_path)
    assert (found["requests to models, all runs"], found["prompt tokens"], found["completion tokens"]) == (2, 2000, 1000)
    assert found["USD"] == f"{1.5 * (1000 * 2 + 500 * 8) / 1e6:.4f}" and found["USD per accepted task"] == "0.0015"


def test_a_model_without_a_price_is_named_and_its_cost_is_not_made_up(params: Params, tmp_path: Path) -> None:
    charge(tmp_path, Charge(0, "a", "small", False, 1000, 500))
    found = totals(params, tmp_path)
    assert found["USD"] == "0.0000, and fuse.llm.prices lacks small" and "USD per accepted task" not in found


def nvidia_smi(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program of that name, first on the PATH."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def busy(until_there_are: int) -> str:
    """What is said of a block that lasts for so many samples, or ten seconds."""
    ends = time.monotonic() + 10
    with watched(every_s=0.02) as found:
        while sum(map(len, found.percents.values())) < until_there_are and "nvidia-smi" not in found.why_not:
            assert time.monotonic() < ends
            time.sleep(0.01)
    return str(found)


def test_busy_share_is_the_mean_of_what_nvidia_smi_says_of_each_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = tmp_path / "turns"
    figures = f"echo >> {turns}; [ $(wc -l < {turns}) -gt 1 ] && first=100 || first=50; echo 0, $first; echo 1, 7"
    nvidia_smi(tmp_path, monkeypatch, f'[ "$1" = --query-gpu=index,utilization.gpu ] || exit 2; {figures}')
    with watched(every_s=0.02) as found:
        while len(found.percents.get("1", [])) < 2:
            time.sleep(0.005)
        said = found.percents["0"][:2]
    assert said == [50.0, 100.0]
    assert str(found).endswith(" %, GPU 1 7 %")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo '0, [N/A]'", "nvidia-smi says [N/A]"),
        ("exit 9", "nvidia-smi gave no figure: "),
        ("echo No devices", "nvidia-smi says "),
    ],
)
def test_what_nvidia_smi_does_not_say_is_no_figure(
    script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvidia_smi(tmp_path, monkeypatch, script)
    assert busy(1).startswith(why)


def test_without_nvidia_smi_there_is_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert busy(0) == "no GPU"


def test_the_page_has_rows_by_split_and_what_the_agent_earns(params: Params, tmp_path: Path) -> None:
    agent = {"mean_reward": 1.5, "best_fixed_plan": 1.25, "always_default": None, "oracle": 2.25, "gap_closed": 0.25}
    write_json(tmp_path / "report" / "metrics.json", {"splits": {"train": 24, "test": 4}, "agent": agent})
    page = tables.page(REPORTS, {"screen": "GPU 0 83 %", "train": "no GPU"}, params, tmp_path, ["ORG/ops6k: 9 files"])
    assert "mean reward on held-out tasks 1.5 (best fixed plan 1.25, oracle 2.25); it closes 25% of the gap" in page
    assert "| train | 24 |" in page and "| screen | invalid/runtime | 2 | 25.0% |" in page and "- ORG/ops6k: 9 files" in page
    assert "| screen | done | 8 | 6 | 2.0 | GPU 0 83 % |" in page and "| train | did not end |  |  |  | no GPU |" in page


def test_a_page_of_a_run_that_made_nothing_has_no_figures_of_an_agent(params: Params, tmp_path: Path) -> None:
    page = tables.page({}, {}, params, tmp_path, [])
    assert "Agent" not in page and "| verdicts | 0 |" in page
