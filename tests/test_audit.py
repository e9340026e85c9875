"""The audit of somebody's set: rows from any format, faults that are quoted, a report, and a second run that does nothing twice."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dedup_tasks import framed

from ops6k import params as parameters
from ops6k.audit import Audit, audit
from ops6k.audit.page import faulty, write
from ops6k.audit.rows import COLUMNS, rows_of
from ops6k.commands import look
from ops6k.errors import MissingInput
from ops6k.tables import folder_name

ROOT = Path(__file__).parents[1]
SOUND = framed("self.fc = nn.Linear(width, 64)", "return torch.kthvalue(self.fc(x).cumsum(0), 3, dim=1)[0]")
PARAMS = parameters.load(ROOT / "params.yaml", settings=["screen.window_ms=[0.00001, 1000]"])


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
@pytest.mark.parametrize(("column", "ops"), [("code", "ops"), ("ref_arch_src", "Ops"), ("python_code", "labels")])
def test_columns_are_found_by_what_they_hold_and_labels_in_any_writing(
    tmp_path: Path, suffix: str, column: str, ops: str
) -> None:
    writings = ["['nn.Linear', 'torch.tanh']", "nn.Linear, torch.tanh", '["nn.Linear", "torch.tanh"]']
    rows = [{"source": "composer", "id": f"t{i}", column: SOUND, ops: text} for i, text in enumerate(writings)]
    path = tmp_path / f"set{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = rows_of(str(path))
    assert [row.name for row in found] == ["t0", "t1", "t2"] and {row.code for row in found} == {SOUND}
    assert {row.ops for row in found} == {("nn.Linear", "torch.tanh")}
    assert found[1].place == f"set{suffix} row 1"


@pytest.mark.parametrize("suffix", [".py", ".jsonl", ".parquet"])
def test_labels_in_a_first_comment_count_in_every_format_where_no_column_names_them(tmp_path: Path, suffix: str) -> None:
    code, path = "# ops: nn.Linear, torch.cumsum\n" + SOUND, tmp_path / f"set{suffix}"
    rows = [{"code": code, "ops": ops} for ops in ([], None, ["torch.erf"])]
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        path.write_text(code, encoding="utf-8")
    found = [row.ops for row in rows_of(str(path))]
    assert found == [("nn.Linear", "torch.cumsum"), ("nn.Linear", "torch.cumsum"), ("torch.erf",)][: len(found)]


def test_a_folder_of_a_data_set_is_read_without_what_holds_no_tasks(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"task_id": ["a"], "code": [SOUND]}), tmp_path / "data" / "train.parquet")
    pq.write_table(pa.table({"candidate_id": ["a"], "source": ["composer"]}), tmp_path / "funnel.parquet")
    (tmp_path / "verify.py").write_text("print()", encoding="utf-8")
    assert [row.place for row in rows_of(str(tmp_path))] == ["data/train.parquet row 0"]


def test_readme_and_help_name_every_column_that_is_known() -> None:
    for text in ((ROOT / "README.md").read_text(encoding="utf-8"), str(look.audit.__doc__)):
        assert set(COLUMNS) <= set(re.findall(r"\w+", text))


LINE = json.dumps({"code": SOUND}) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        '{"a": 1}\n',
        "not json\n",
        '["class A"]\n',
        LINE * 60 + "7\n",
        "[" * 100_000,
        '{"code": "class \xe9"}\n',
        f'{{"n": {"9" * 5000}}}\n',
    ],
    ids=["absent", "empty", "no-code", "text", "a-list", "a-late-number", "deep", "latin-1", "a-long-number"],
)
def test_a_source_without_tasks_is_one_line(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "set.jsonl"
    if content is not None:
        path.write_bytes(content.encode("latin-1"))
    with pytest.raises(MissingInput) as told:
        rows_of(str(path))
    assert "\n" not in str(told.value) and "set.jsonl" in str(told.value)


def _twice(path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array([SOUND]), pa.array([SOUND])], ["code", "code"]), path)


def _not_utf8(path: Path) -> None:
    pq.write_table(pa.table({"code": pa.array([b"class Model: \xff"]).view(pa.string())}), path)


def _no_footer(path: Path) -> None:
    path.write_bytes(b"PAR1 and nothing else")


@pytest.mark.parametrize("made", [_twice, _not_utf8, _no_footer, Path.touch, Path.mkdir])
def test_a_parquet_file_that_cannot_be_read_is_one_line(tmp_path: Path, made: Callable[[Path], None]) -> None:
    made(tmp_path / "set.parquet")
    with pytest.raises(MissingInput) as told:
        rows_of(str(tmp_path / "set.parquet"))
    assert "\n" not in str(told.value) and "set.parquet" in str(told.value)


def test_a_column_that_python_cannot_hold_is_not_read(tmp_path: Path) -> None:
    made_at = pa.array([2**62], pa.timestamp("us"))
    pq.write_table(pa.table({"code": [SOUND], "made_at": made_at}), tmp_path / "set.parquet")
    assert [row.code for row in rows_of(str(tmp_path / "set.parquet"))] == [SOUND]


def test_a_lone_surrogate_anywhere_in_a_row_is_written_as_its_escape(tmp_path: Path) -> None:
    row = {"id": "a\ud800", "ops": ["torch.\ud800"], "code": SOUND + "# \ud800"}
    (tmp_path / "set.jsonl").write_text("\ufeff" + json.dumps(row) + "\n", encoding="utf-8")
    (found,) = rows_of(str(tmp_path / "set.jsonl"))
    assert (found.name, found.ops) == ("a\\ud800", ("torch.\\ud800",)) and found.code.endswith("# \\ud800")


def test_a_row_without_a_source_says_what_stands_there_instead(tmp_path: Path) -> None:
    rows = [{"code": SOUND}, {"id": 1}, {"code": None}, {"code": ""}, {"code": 7}, {"code": [SOUND]}]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ends = ["", "there is no `code`", "`code` is null", "`code` is empty", "`code` is int, not text", "`code` is list, not text"]
    assert [row.lacks.removeprefix("no source: ") for row in rows_of(str(tmp_path / "set.jsonl"))] == ends
    (tmp_path / "none.py").touch()
    assert rows_of(str(tmp_path / "none.py"))[0].lacks == "no source: the file is empty"


def test_labels_that_are_nested_too_deep_for_a_list_are_one_label(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text(json.dumps({"code": SOUND, "ops": "[" * 5000}) + "\n", encoding="utf-8")
    assert rows_of(str(tmp_path / "set.jsonl"))[0].ops == ("[" * 5000,)


def test_what_is_no_plain_file_in_a_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# ops: torch.add\n" + SOUND, encoding="utf-8")
    (tmp_path / "b.py").mkdir()
    os.mkfifo(tmp_path / "c.py")
    (tmp_path / "d.py").symlink_to("nowhere.py")
    assert [(row.place, row.ops, row.code) for row in rows_of(str(tmp_path))] == [("a.py", ("torch.add",), SOUND)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five tasks: sound, its copy with other names, a wrong label, one that does not run, a problem of KernelBench; two rows of none."""
    folder = tmp_path_factory.mktemp("set")
    rows = [
        {"task_id": "sound", "ops": ["nn.Linear", "torch.kthvalue", "torch.cumsum"], "code": SOUND},
        {"task_id": "copy", "ops": ["nn.Linear", "torch.kthvalue", "torch.cumsum"], "code": SOUND.replace("fc", "proj")},
        {
            "task_id": "label",
            "ops": ["nn.Linear", "torch.erf"],
            "code": framed("self.fc = nn.Linear(width, 64)", "return torch.tan(self.fc(x))"),
        },
        {"task_id": "broken", "ops": None, "code": framed("", "return x @ x")},
        {"task_id": "known", "ops": ["torch.relu"], "code": framed("", "return torch.relu(x)")},
        {"task_id": "void", "ops": None, "code": None},
        {"task_id": "blank", "ops": None, "code": " \n"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "set.parquet")
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> Audit:
    return audit(str(folder / "set.parquet"), PARAMS, folder / "work")


def test_each_fault_names_its_row_and_its_reason(found: Audit) -> None:
    kinds = {fault.name: fault.kind for fault in found.faults}
    assert kinds == {
        "copy": "duplicate/near",
        "label": "invalid/label",
        "broken": "invalid/runtime",
        "known": "contaminated/benchmark",
        "void": "invalid/structure",
        "blank": "invalid/structure",
    }
    said = {fault.name: fault.message for fault in found.faults}
    assert "set.parquet row 0" in said["copy"] and "torch.erf" in said["label"] and "kernelbench" in said["known"]
    assert (said["void"], said["blank"]) == ("no source: `code` is null", "no source: `code` is empty")
    assert {fault.name: fault.place for fault in found.faults}["void"] == "set.parquet row 5"
    assert found.rows == found.looked_at == 7 and len(found.headroom) == 4


def test_a_second_run_dry_runs_nothing_and_says_the_same(found: Audit, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops6k.audit.dry_runs", None)
    assert audit(str(folder / "set.parquet"), PARAMS, folder / "work") == found


def test_a_sample_is_so_many_rows_and_always_the_same(folder: Path) -> None:
    one, other = (audit(str(folder / "set.parquet"), PARAMS, folder / "work", sample=2) for _ in range(2))
    assert one.looked_at == 2 and one.rows == 7 and one == other


def test_the_report_stands_in_three_files_and_hides_no_markup(found: Audit, tmp_path: Path) -> None:
    paths = {path.name: path.read_text(encoding="utf-8") for path in write(found, tmp_path)}
    assert json.loads(paths["audit.json"])["faulty_rows"] == faulty(found) == 6
    assert "| invalid/label | 1 |" in paths["audit.md"]
    assert '<h2 id="contaminated-benchmark">' in paths["audit.html"] and "http" not in paths["audit.html"]


def test_sources_of_one_name_have_reports_in_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.parquet").touch()
    monkeypatch.chdir(tmp_path / "a")
    names = {folder_name(source) for source in ("x.parquet", "../b/x.parquet", "lab/x", "other/x", "y" * 250)}
    assert len(names) == 5 and all(len(name) < 100 for name in names)
    assert folder_name(str(tmp_path / "a" / "x.parquet")) == folder_name("x.parquet") == folder_name("../a/x.parquet")


@pytest.mark.slow
def test_the_command_ends_with_one_where_strict_finds_something(folder: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess:
        command = [
            sys.executable,
            "-m",
            "ops6k",
            "audit",
            *arguments,
            "--params",
            str(ROOT / "params.yaml"),
            "--data",
            str(tmp_path),
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = run(str(folder / "set.parquet"), "--strict")
    assert done.returncode == 1 and "7 of 7 rows have a fault (7 in the set)" in done.stdout
    assert (tmp_path / "audit" / folder_name(str(folder / "set.parquet")) / "audit.html").exists()
    assert run(str(folder / "set.parquet")).returncode == 0
    lost = run("nowhere.parquet")
    assert lost.returncode == 1 and lost.stderr.count("\n") == 1


@pytest.mark.slow
def test_on_a_device_a_fault_that_only_a_run_shows_is_found(tmp_path: Path) -> None:
    still = framed("", "return torch.kthvalue(x, 3, dim=1)[0] * 1e-9")
    pq.write_table(pa.table({"task_id": ["sound", "still"], "code": [SOUND, still]}), tmp_path / "set.parquet")
    run = audit(str(tmp_path / "set.parquet"), PARAMS, tmp_path / "work", device="cpu")
    assert {fault.name: fault.kind for fault in run.faults} == {"still": "constant/output"}
    assert run.device is not None and "whole screen on" in write(run, tmp_path)[1].read_text(encoding="utf-8")
    assert audit(str(tmp_path / "set.parquet"), PARAMS, tmp_path / "work").faults == ()


def test_a_draw_of_random_numbers_is_found_without_a_device(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(framed("", "return x + torch.rand_like(x)"), encoding="utf-8")
    (fault,) = audit(str(tmp_path / "task.py"), PARAMS, tmp_path / "work").faults
    assert fault.kind == "nondeterministic/random_op" and "rand_like" in fault.message
