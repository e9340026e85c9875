"""The files of the harvest: whole, sorted, readable as records; below a minimum the old ones stay."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from ops6k import harvest, params
from ops6k.errors import MissingInput, Ops6kError
from ops6k.harvest import lines
from ops6k.harvest.categories import Category
from ops6k.harvest.lines import Harvest
from ops6k.records import Operator

ROOT = Path(__file__).resolve().parent.parent
SEED_OPS = ROOT / "seed_ops"
MINIMA = params.load(ROOT / "params.yaml", preset="full").harvest


def an_operator(name: str, note: str = "") -> Operator:
    left_out = lines.skipped(name, "torch", "2", "torch", kind="function", reason=note)
    return left_out if note else replace(left_out, usable=True)


def test_lines_are_sorted_records_with_keys_in_record_order(tmp_path: Path) -> None:
    lines.write(
        tmp_path, [Harvest("torch", (an_operator("torch.b"), an_operator("torch.a")), (an_operator("torch.c", "deprecated"),))]
    )
    rows = [json.loads(line) for line in (tmp_path / "torch.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["name"] for row in rows] == ["torch.a", "torch.b"]
    assert all(list(row) == [field.name for field in fields(Operator)] for row in rows)


def test_what_is_written_reads_back_and_skipped_ones_say_why(tmp_path: Path) -> None:
    kept, left_out = an_operator("torch.a"), an_operator("torch.c", "deprecated")
    lines.write(tmp_path, [Harvest("torch", (kept,), (left_out,))])
    assert lines.read(tmp_path / "torch.jsonl") == [kept]
    assert lines.read(tmp_path / "skipped.jsonl") == [left_out]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch.jsonl").write_text('{"name": "torch.a"}\n', encoding="utf-8")
    with pytest.raises(MissingInput, match=r"torch\.jsonl: line 1"):
        lines.read(tmp_path / "torch.jsonl")


def test_too_few_operators_stop_the_stage_with_one_line_and_leave_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "seed_ops").mkdir()
    (tmp_path / "seed_ops" / "torch.jsonl").write_text("old\n", encoding="utf-8")
    monkeypatch.setattr(
        harvest, "harvest_torch", lambda _: Harvest("torch", tuple(an_operator(f"torch.{n}") for n in range(400)), ())
    )
    monkeypatch.setattr(harvest, "harvest_transformers", lambda _: Harvest("transformers", (an_operator("transformers.A"),), ()))
    demanding = replace(params.load(ROOT / "params.yaml"), root=tmp_path)
    with pytest.raises(Ops6kError, match="1 usable transformers operators, at least 150") as caught:
        harvest.run(demanding, tmp_path / "data")
    assert "\n" not in str(caught.value)
    assert [path.name for path in (tmp_path / "seed_ops").iterdir()] == ["torch.jsonl"]
    assert (tmp_path / "seed_ops" / "torch.jsonl").read_text(encoding="utf-8") == "old\n"


def test_the_report_counts_every_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = (
        an_operator("torch.x", "alias of torch.a"),
        an_operator("torch.y", "alias of torch.b"),
        an_operator("torch.z", "deprecated"),
    )
    monkeypatch.setattr(harvest, "harvest_torch", lambda _: Harvest("torch", (an_operator("torch.a"),), left_out))
    monkeypatch.setattr(harvest, "harvest_transformers", lambda _: Harvest("transformers", (), ()))
    lenient = params.load(ROOT / "params.yaml", settings=["harvest.min_torch=1", "harvest.min_transformers=0"])
    report = harvest.run(replace(lenient, root=tmp_path), tmp_path / "data")
    assert (report.taken, report.kept) == (4, 1)
    assert {reason.reason: reason.count for reason in report.reasons} == {"alias": 2, "deprecated": 1}


@pytest.mark.parametrize(("library", "least"), [("torch", MINIMA.min_torch), ("transformers", MINIMA.min_transformers)])
def test_the_committed_files_hold_enough_usable_operators_each_once(library: str, least: int) -> None:
    operators = lines.read(SEED_OPS / f"{library}.jsonl")
    assert len(operators) >= least
    assert len({operator.name for operator in operators}) == len(operators)
    assert all(operator.usable and not operator.note and operator.dtypes for operator in operators)
    assert {operator.category for operator in operators} <= set(Category)


def test_every_committed_line_left_out_says_why() -> None:
    left_out = lines.read(SEED_OPS / "skipped.jsonl")
    assert left_out
    assert all(operator.note and not operator.usable for operator in left_out)
