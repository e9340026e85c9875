"""The check checked: rewrites of our own tasks are found, and the self-test reports what it sees."""

import ast
import csv
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dedup_tasks import TASKS, framed
from rich.console import Console
from typer.testing import CliRunner

from ops6k.cli import app
from ops6k.dedup.canonical import canonical
from ops6k.dedup.curves import CHANNELS, Point
from ops6k.dedup.decide import decide, rejections
from ops6k.dedup.index import build_index, references_of, sources
from ops6k.dedup.rewrites import LIKELY, functional, reordered, split, wrapped
from ops6k.dedup.selftest import NEEDED, self_test
from ops6k.dedup.shingles import jaccard
from ops6k.dedup.similar import nearest, side_by_side
from ops6k.dedup.similar_page import page
from ops6k.dedup.subject import Subject
from ops6k.dedup.variants import SURE, renamed, resized
from ops6k.errors import MissingInput
from ops6k.params import DedupParams, load

ROOT = Path(__file__).parents[1]
PARAMS = DedupParams()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, (name, task) in enumerate(TASKS.items()):
        path = tmp_path / "level2" / f"{number}_{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(task.code)
    return tmp_path


def outputs(code: str, seed: int = 0) -> list[object]:
    """What a task of ours returns: weights by state dict from the original, inputs from a seed."""
    import torch

    space: dict[str, object] = {}
    exec(compile(code, "task", "exec"), space)
    torch.manual_seed(seed)
    model = space["Model"](*space["get_init_inputs"]()).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.01)
        return [model(*(x[:2] if x.dim() == 4 else x for x in space["get_inputs"]()))]


@pytest.mark.parametrize("rewrite", [functional, wrapped, split, reordered, renamed])
@pytest.mark.parametrize("name", ["chain", "pair", "functions", "gated"])
def test_a_rewrite_computes_what_the_task_computes(name: str, rewrite: Callable[[str], str]) -> None:
    import torch

    code = TASKS[name].code
    [expected], [found] = outputs(code), outputs(rewrite(code))
    assert torch.allclose(expected, found)


def test_rewrites_change_the_text() -> None:
    code = framed(
        "self.fc = nn.Linear(width, 9)\n        self.act = nn.GELU()",
        "a = x.sin()\n        b = x.cos()\n        return self.act(self.fc(a) + self.fc(b))",
    )
    texts = {name: canonical(rewrite(code)).text for name, rewrite in LIKELY.items()}
    assert len({canonical(code).text, *texts.values()}) == 1 + len(LIKELY)
    assert len({canonical(rewrite(code)).flow for rewrite in LIKELY.values()} | {canonical(code).flow}) == 1


@pytest.mark.parametrize("rewrite", LIKELY.values(), ids=LIKELY)
@pytest.mark.parametrize("name", TASKS)
def test_a_rewritten_copy_of_a_reference_is_contaminated(name: str, rewrite: Callable[[str], str], folder: Path) -> None:
    references, _ = references_of(list(sources(folder)), "ours")
    copy = Subject("copy", TASKS[name].ops, rewrite(TASKS[name].code), None)
    ast.parse(copy.code)
    match = rejections(decide([copy], references, PARAMS))["copy"]
    assert match.reference.split("_", 1)[1] == name


def test_the_self_test_reports_recall_and_price(folder: Path) -> None:
    tested = self_test(folder, PARAMS)
    assert tested.holds
    assert {(r.disguise, r.copies, r.caught) for r in tested.recalls} == {(name, len(TASKS), len(TASKS)) for name in NEEDED}
    assert {m.merged for m in tested.merged} == {0}


def test_the_self_test_fails_where_a_rule_is_off(folder: Path) -> None:
    rules = {name: "flag" if name.startswith("benchmark/") else action for name, action in PARAMS.rules.items()}
    tested = self_test(folder, DedupParams(rules=rules))
    assert not tested.holds
    assert {r.caught for r in tested.recalls} == {0}
    assert all(len(r.missed) == len(TASKS) for r in tested.recalls)


def test_the_nearest_reference_of_a_copy_is_its_original(folder: Path) -> None:
    references, _ = references_of(list(sources(folder)), "ours")
    found = nearest(SURE["disguised"](TASKS["attention"].code), None, references, count=3)
    assert len(found) == 3
    assert found[0].reference.endswith("attention")
    assert (found[0].canonical, found[0].graph, found[0].text, found[0].operators) == (True, 1.0, 1.0, 1.0)
    assert found[1].text < 1
    assert not found[1].canonical


def test_a_task_that_is_no_python_has_neighbours_by_its_trace_alone(folder: Path) -> None:
    references, _ = references_of(list(sources(folder)), "ours", trace=lambda codes: [("mm", "erf")] * len(codes))
    found = nearest("class Model(:", ("mm", "erf"), references)
    assert {(n.graph, n.text, n.operators) for n in found} == {(1.0, 0.0, 0.0)}


def test_canonical_forms_stand_side_by_side() -> None:
    one, other = (
        framed("self.fc = nn.Linear(width, 9)", f"y = self.fc(x)\n        return F.{name}(y)") for name in ("gelu", "silu")
    )
    rows = side_by_side(one, other)
    assert [row[:2] for row in rows if not row[2]] == [("return gelu ( v2 , )", "return silu ( v2 , )")]
    assert [row[0] for row in rows] == canonical(one).text.splitlines()
    assert all(row[2] for row in side_by_side(one, resized(one)))


def test_points_agree_with_counting_pairs(folder: Path) -> None:
    tested = self_test(folder, PARAMS)
    references, _ = references_of(list(sources(folder)), "ours")
    shingles = [np.array(r.shingles, np.uint32) for r in references]
    merged = sum(any(jaccard(a, b) >= 0.5 for j, b in enumerate(shingles) if j != i) for i, a in enumerate(shingles))
    point = next(p for p in tested.points if (p.channel, p.threshold) == ("text", 0.5))
    assert (point.merged, point.problems, point.copies) == (merged, len(TASKS), len(NEEDED) * len(TASKS))
    for channel in CHANNELS:
        own = [p for p in tested.points if p.channel == channel]
        assert [p.caught for p in own] == sorted((p.caught for p in own), reverse=True)
    at_one = {p.channel: p for p in tested.points if p.threshold == 1.0}
    assert at_one["graph"].recall == 1.0
    assert at_one["graph"].precision == 1.0
    assert at_one["text"].recall < 0.9


def test_precision_weighs_copies_and_new_tasks_alike() -> None:
    assert Point("text", 0.9, copies=10, caught=5, problems=4, merged=2).precision == 0.5
    assert Point("text", 0.9, copies=10, caught=0, problems=4, merged=0).precision is None


def test_the_command_writes_tables_and_a_plot_and_fails_where_copies_get_through(folder: Path, tmp_path: Path) -> None:
    arguments = ["dedup", "--self-test", str(folder), "--params", str(ROOT / "params.yaml"), "--data", str(tmp_path / "data")]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    rows = list(csv.DictReader((tmp_path / "data/selftest/recall.csv").open()))
    assert {row["disguise"]: row["caught"] for row in rows} == dict.fromkeys(NEEDED, str(len(TASKS)))
    assert (tmp_path / "data/selftest/channels.png").read_bytes().startswith(b"\x89PNG")
    off = [f"--set=dedup.rules.benchmark/{channel}=flag" for channel in ("canonical", "graph", "text")]
    assert CliRunner().invoke(app, [*arguments, *off]).exit_code == 1


@pytest.mark.slow
def test_similar_shows_neighbours_and_both_forms(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.py"
    build_index(folder, "ours", folder=tmp_path)
    copy.write_text(SURE["disguised"](TASKS["pair"].code))
    form = canonical(TASKS["gated"].code)
    params = dataclasses.replace(load(ROOT / "params.yaml"), root=tmp_path)
    params = dataclasses.replace(params, dedup=dataclasses.replace(params.dedup, benchmarks=("ours.parquet",)))
    rows = [{"task_id": "row1", "ops": ["a"], "code": TASKS["gated"].code, "work": {"operators": ["mm"]}}]
    (tmp_path / "data/dataset").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "data/dataset/train.parquet")
    screen = Console(record=True, width=200)
    for part in page(copy, params, tmp_path / "data", count=2, source=folder):
        screen.print(part)
    text = screen.export_text()
    assert re.search(r"_pair +ours .* same +1\.000 +1\.000 +1\.000", text)
    assert re.search(r"row1 +row", text)
    assert form.text.splitlines()[1] in text
    with pytest.raises(MissingInput, match="no such file"):
        next(page(tmp_path / "gone.py", params, tmp_path, count=1, source=None))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import torch\n\nclass Model(\n", r"no Python: line 3: '\(' was never closed"),
        ("class Model:\n  def f(self):\nx = 1\n", r"no Python: line 3: expected an indented block"),
        ("x = 1\0", r"no Python: .*null"),
        ("x = " + "(" * 5000 + ")" * 5000, "no Python: "),
        ("x = 1\n", "no task: no class in it"),
    ],
)
def test_similar_says_what_is_wrong_with_a_file_that_is_no_task(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "task.py").write_text(text, encoding="utf-8")
    with pytest.raises(MissingInput, match=says) as told:
        next(page(tmp_path / "task.py", load(ROOT / "params.yaml"), tmp_path, count=1, source=None))
    assert "\n" not in str(told.value) and "task.py" in str(told.value)
