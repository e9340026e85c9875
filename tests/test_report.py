"""The report of whole, half and empty builds: page, metrics and plots, each number worked out a second way."""

import base64
import csv
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
import synthetic_build as synthetic

from ops6k.assemble import run as assemble
from ops6k.errors import MissingInput
from ops6k.records import Outcome
from ops6k.report import run
from ops6k.store import write_json

SCORES = {"agent": 1.9, "always_eager": 1.0, "always_default": 1.7, "best_fixed": 1.8, "random": 1.2, "oracle": 2.4}


def write_agent(data: Path, gap: dict[str, float | None]) -> None:
    """What the train stage leaves, as far as the report reads it."""
    scores = {
        name: {"mean_reward": reward, "pass_rate": 1.0, "speedup_over_eager": 1 + reward / 10} for name, reward in SCORES.items()
    }
    found = {
        "tasks": 4,
        "best_fixed_plans": ["default"],
        "one_attempt": scores,
        "four_attempts": scores,
        "gap_closed": {"agent": {"milestone": gap, "log_speedup": gap}},
    }
    tree = {"held_out": {"how": "test split", "train_tasks": 8, "comparison": found}, "cross_validation": None, "problems": None}
    write_json(data / "agent" / "results.json", tree)
    (data / "agent" / "curve.csv").write_text("seed,step,mean_episode_reward\n0,256,\n0,512,1.1\n0,1024,1.5\n1,1024,1.7\n")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole build with its report."""
    root = tmp_path_factory.mktemp("build")
    data = synthetic.write_build(synthetic.mixed_build(), root)
    params = synthetic.params(root, 40)
    assemble(params, data)
    write_agent(data, {"share": 0.1667, "low": -0.2, "high": 0.5})
    run(params, data)
    return data


def metrics(data: Path) -> dict:
    return json.loads((data / "report" / "metrics.json").read_text())


def html(data: Path) -> str:
    return (data / "report" / "index.html").read_text()


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_metrics_are_what_the_tables_say(data: Path) -> None:
    build = synthetic.mixed_build()
    accepted = {v.candidate_id for v in build.verdicts if v.outcome is Outcome.ACCEPTED}
    dropped = Counter(str(m.reason) for m in build.matches if m.reason)
    rejected = Counter(str(v.reason) for v in build.verdicts if v.reason)
    found = metrics(data)
    assert (found["candidates"], found["accepted"], found["rows"]) == (len(build.candidates), len(accepted), 40)
    assert found["yield"] == round((len(accepted) - 2) / len(build.candidates), 4)
    assert found["reasons"] == dict(rejected + dropped)
    assert found["timing"]["compiled_speedup_geomean"] == 1.25  # every synthetic row is 1.25 times faster compiled
    assert found["agent"]["mean_reward"] == 1.9 and found["agent"]["gap_closed"] == 0.1667


def test_the_funnel_csv_adds_up_stage_by_stage(data: Path) -> None:
    counts: dict[str, dict[str, int]] = {}
    for row in rows(data / "report" / "plots" / "funnel.csv"):
        counts.setdefault(row["stage"], {})[row["reason"]] = int(row["count"])
    assert sum(counts["screen"].values()) == 122
    assert sum(counts["dedup"].values()) == counts["screen"]["kept"]
    assert counts["assemble"]["kept"] == 40
    assert counts["fuse"] == {"kept": 121, "dry run failed": 7}


def test_the_learning_curve_is_the_mean_over_seeds_and_leaves_out_points_without_a_reward(data: Path) -> None:
    assert rows(data / "report" / "plots" / "learning.csv") == [
        {"step": "512", "mean_reward": "1.1"},
        {"step": "1024", "mean_reward": "1.6"},  # the mean of 1.5 and 1.7
    ]


def test_the_page_needs_nothing_but_itself(data: Path) -> None:
    references = re.findall(r"""(?:src|href)=["']([^"']+)""", html(data)) + re.findall(r"url\(([^)]*)\)|@import", html(data))
    assert references and all(reference.startswith("data:image/svg+xml;base64,") for reference in references)
    assert "<script" not in html(data)


def test_every_figure_is_there_and_is_a_drawing(data: Path) -> None:
    titles = re.findall(r"<h3>(.*?)</h3>", html(data))
    assert {"Funnel", "Ends by depth", "Predicted against measured time", "Eager time", "Similarity to benchmarks"} < set(titles)
    assert {"The agent against what needs no agent", "Learning curve"} < set(titles)
    drawings = re.findall(r"base64,([^\"]+)", html(data))
    assert len(drawings) == len(titles)
    for drawing in drawings:
        assert ElementTree.fromstring(base64.b64decode(drawing)).tag.endswith("svg")


def test_a_cpu_and_the_composer_are_said_at_the_top(data: Path) -> None:
    top = html(data)[: html(data).index('class="tiles"')]
    assert "Measured on a CPU." in top and "40 of 40 rows come from the built-in composer" in top


def test_the_table_of_ends_shows_each_reason_by_depth(data: Path) -> None:
    build = synthetic.mixed_build()
    depth = {c.candidate_id: c.depth for c in build.candidates}
    expected = Counter(depth[v.candidate_id] for v in build.verdicts if str(v.reason) == "invalid/runtime")
    cells = re.search(r"<td>invalid/runtime</td>(.*?)</tr>", html(data)).group(1)
    assert [int(n) for n in re.findall(r">(\d+)</td>", cells)] == [expected.total(), *(expected[d] for d in range(1, 6))]


def test_the_same_build_gives_the_same_page(data: Path) -> None:
    before = html(data)
    run(synthetic.params(data.parent, 40), data)
    assert html(data) == before


def test_text_from_candidates_is_escaped(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 3)
    build.candidates[:] = [synthetic.candidate(c.seed, 1, source="<script>x</script>") for c in build.candidates]
    data = synthetic.write_build(build, tmp_path)
    run(synthetic.params(tmp_path, 3, "allow"), data)
    assert "&lt;script&gt;x" in html(data) and "<script" not in html(data)


def test_nothing_built_is_a_page_that_says_so(tmp_path: Path) -> None:
    report = run(synthetic.params(tmp_path, 10), tmp_path / "data")
    assert report.notes == ("Nothing was built yet: `ops6k build` runs all stages.",)
    assert "Nothing was built yet" in html(tmp_path / "data")
    assert metrics(tmp_path / "data")["yield"] is None


@pytest.mark.parametrize("absent", [("matches",), ("verdicts", "matches")])
def test_a_build_that_ends_early_is_reported_as_far_as_it_went(tmp_path: Path, absent: tuple[str, ...]) -> None:
    data = synthetic.write_build(synthetic.mixed_build(30), tmp_path)
    for folder in absent:
        for file in (data / folder).iterdir():
            file.unlink()
    report = run(synthetic.params(tmp_path, 10), data)
    assert "data/dataset is not there yet" in report.notes and "data/agent is not there yet" in report.notes
    assert "There is no data set yet" in html(data)
    assert metrics(data)["rows"] == 0 and metrics(data)["candidates"] == (31 if "verdicts" in absent else 32)


def test_no_gap_to_close_is_said_in_words(tmp_path: Path) -> None:
    data = synthetic.write_build(synthetic.mixed_build(30), tmp_path)
    write_agent(data, {"share": None, "low": None, "high": None})
    run(synthetic.params(tmp_path, 10), data)
    assert "there is no gap to close" in html(data)
    assert metrics(data)["agent"]["gap_closed"] is None


@pytest.mark.parametrize("text", ["{", '{"held_out": 3}', "[]"])
def test_results_that_are_none_are_named(tmp_path: Path, text: str) -> None:
    data = synthetic.write_build(synthetic.mixed_build(20), tmp_path)
    (data / "agent").mkdir()
    (data / "agent" / "results.json").write_text(text)
    with pytest.raises(MissingInput, match=r"results\.json: not the results of `ops6k train`"):
        run(synthetic.params(tmp_path, 10), data)
    assert not (data / "report").exists()
