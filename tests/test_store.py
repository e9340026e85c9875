"""Records to files and back, and files that appear only when whole."""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ops6k import records, store
from ops6k.errors import MissingInput
from ops6k.records import (
    Candidate,
    Checks,
    Environment,
    Funnel,
    Match,
    Operator,
    Outcome,
    PhaseSeconds,
    Reason,
    Report,
    Timing,
    Verdict,
    Work,
)

_TIMING = Timing(2.0, 1.9, 2.1, 2.2, 1.0, 1.2, 15, False)
_WORK = Work(10, 4, 100, 8, 1.5, 0.5, 3.0, 8, ("aten.relu", "aten.sum"))
_CHECKS = Checks(True, False, 0.5, (0.5, 1.0), None, None, None, 1e-2, 1e-2, "abc", ("flag",))
_ENVIRONMENT = Environment("cpu", "cpu", None, "2.13.0", None, "3.11", "highest", False)
ROWS = [
    Candidate("0" * 16, ("nn.ReLU", "F.gelu"), "import torch\n", "composer", 3, "float32", ("activation",)),
    Candidate("1" * 16, (), "", "model", 0, "float16", (), prompt_hash="p", parent="0" * 16, round=2),
    Verdict("0" * 16, Outcome.ACCEPTED, None, "ok", "timing", _WORK, _CHECKS, _TIMING, _ENVIRONMENT, PhaseSeconds(dry_run=0.1)),
    Verdict("1" * 16, Outcome.INVALID, Reason.SYNTAX, "line 1: 'é'", "text"),
    Match("0" * 16, "text", 0.5, "level1/1", "kernelbench", 1, None),
    Match("1" * 16, "graph", 1.0, "0" * 16, None, None, Reason.NEAR),
    Operator(
        "F.relu",
        "torch",
        "2.13",
        "torch.nn.functional",
        "function",
        "activation",
        "(x)",
        "doc",
        1,
        (1, 2),
        ("float32",),
        False,
        True,
        "",
        None,
    ),
    Report("screen", 2, 1, (Funnel("invalid/syntax", 1),), ("a note",), 1.5),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_a_record_comes_back_from_parquet_as_it_went(tmp_path: Path, row: object):
    path = store.write_rows(tmp_path / "rows.parquet", [row, row], type(row))
    assert store.read_rows(path, type(row)) == [row, row]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_a_record_comes_back_from_json_as_it_went(tmp_path: Path, row: object):
    path = store.write_json(tmp_path / "row.json", store.to_plain(row))
    assert store.from_plain(type(row), json.loads(path.read_text(encoding="utf-8"))) == row


def test_no_rows_still_make_a_file_with_every_column(tmp_path: Path):
    path = store.write_rows(tmp_path / "rows.parquet", [], Verdict)
    assert pq.read_schema(path).names == [field.name for field in dataclasses.fields(Verdict)]
    assert store.read_rows(path, Verdict) == []


def test_every_record_has_a_schema_whose_nullable_fields_are_the_optional_ones():
    for record in (Candidate, Verdict, Match, Operator, records.Task):
        schema = store.schema_of(record)
        for field in dataclasses.fields(record):
            assert schema.field(field.name).nullable == ("None" in str(field.type)), f"{record.__name__}.{field.name}"


def test_a_column_that_is_missing_is_named(tmp_path: Path):
    pq.write_table(pa.table({"candidate_id": ["0"]}), tmp_path / "rows.parquet")
    with pytest.raises(MissingInput, match=r"rows\.parquet: columns are missing: .*score"):
        store.read_rows(tmp_path / "rows.parquet", Match)


@pytest.mark.parametrize("content", [None, b"", b"no Parquet", b"PAR1 and then nothing PAR1"])
def test_an_absent_or_broken_file_is_one_line_that_names_it(tmp_path: Path, content: bytes | None):
    path = tmp_path / "rows.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MissingInput) as error:
        store.read_rows(path, Match)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_byte_turned_in_the_data_is_never_read_as_another_number(tmp_path: Path):
    path = store.write_rows(
        tmp_path / "rows.parquet", [Match("c", "text", 0.25 + n / 64, "b", None, None, None) for n in range(40)], Match
    )
    whole, before = path.read_bytes(), store.read_rows(path, Match)
    taken = []
    data = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")  # the footer has no checksum
    for place in range(0, data, 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with contextlib.suppress(MissingInput):
            taken.append(store.read_rows(path, Match) == before)
    assert all(taken) and len(taken) < data / 6


def test_a_file_whose_writing_fails_does_not_appear_and_an_older_one_stays(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError), store.whole_file(path) as aside:
        aside.write_text("ne", encoding="utf-8")
        raise RuntimeError
    assert [(found.name, found.read_text(encoding="utf-8")) for found in tmp_path.iterdir()] == [("file", "old")]


def test_a_folder_whose_filling_fails_does_not_appear_and_an_older_one_stays(tmp_path: Path):
    path = tmp_path / "folder"
    with store.whole_folder(path) as aside:
        (aside / "a").write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError), store.whole_folder(path) as aside:
        (aside / "b").write_text("new", encoding="utf-8")
        raise RuntimeError
    assert [found.name for found in tmp_path.iterdir()] == ["folder"]
    assert [found.name for found in path.iterdir()] == ["a"]


def test_a_folder_is_replaced_whole(tmp_path: Path):
    path = tmp_path / "folder"
    for name in ("a", "b"):
        with store.whole_folder(path) as aside:
            (aside / name).touch()
    assert [found.name for found in path.iterdir()] == ["b"]
    assert [found.name for found in tmp_path.iterdir()] == ["folder"]


_REPLACE_FOREVER = """
import sys
from pathlib import Path
from ops6k import store
path, number = Path(sys.argv[1]), 0
while True:
    with store.whole_folder(path) as aside:
        for name in "abc":
            (aside / name).write_text(str(number) * 5000)
    number += 1
"""


def test_a_folder_is_never_seen_half_filled_however_its_writer_is_killed(tmp_path: Path):
    path = tmp_path / "folder"
    root = Path(__file__).resolve().parent.parent
    seen = 0
    for delay_s in (0.0, 0.003, 0.007, 0.013, 0.021, 0.05):
        writer = subprocess.Popen([sys.executable, "-c", _REPLACE_FOREVER, str(path)], cwd=root)
        while not path.exists():
            time.sleep(0.001)
        time.sleep(delay_s)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        if path.exists():
            contents = {found.name: found.read_text(encoding="utf-8") for found in path.iterdir()}
            assert sorted(contents) == ["a", "b", "c"]
            assert len(set(contents.values())) == 1
            seen += 1
    assert seen > 0


def test_a_fingerprint_depends_on_values_and_not_on_the_order_of_keys():
    assert store.fingerprint({"a": 1, "b": 2}) == store.fingerprint({"b": 2, "a": 1})
    assert store.fingerprint({"a": 1}) != store.fingerprint({"a": 2})
    assert store.fingerprint(_TIMING) != store.fingerprint(dataclasses.replace(_TIMING, repeats=16))


def test_a_hash_of_files_sees_names_and_bytes_but_no_caches(tmp_path: Path):
    (tmp_path / "a.py").write_text("1", encoding="utf-8")
    first = store.files_hash(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").touch()
    (tmp_path / ".hidden").touch()
    assert store.files_hash(tmp_path) == first
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    renamed = store.files_hash(tmp_path)
    (tmp_path / "b.py").write_text("2", encoding="utf-8")
    assert len({first, renamed, store.files_hash(tmp_path)}) == 3


def test_ids_depend_on_labels_and_code():
    ids = {
        records.candidate_id(("a",), "x"),
        records.candidate_id(("b",), "x"),
        records.candidate_id(("a",), "y"),
        records.task_id("x"),
        records.task_id("y"),
    }
    assert len(ids) == 5
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in ids)


def test_the_class_of_every_reason_is_an_outcome():
    assert {reason.outcome for reason in Reason} == set(Outcome) - {Outcome.ACCEPTED}
    assert Reason.TIMEOUT.short == "timeout"


@pytest.mark.parametrize("whole", [store.whole_file, store.whole_folder])
def test_a_full_disk_is_told_of_the_place_that_was_written_to(
    tmp_path: Path, whole: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    with pytest.raises(OSError) as told, whole(tmp_path / "there"), open("/dev/full", "w") as file:
        file.write("x")
        file.flush()
    assert told.value.filename == str(tmp_path / "there") and told.value.filename2 is None
    assert list(tmp_path.iterdir()) == []


def test_a_hash_of_code_is_the_same_whatever_version_of_python_asks(tmp_path: Path):
    source = tmp_path / "task.py"
    source.write_text(
        'class A(B, metaclass=M):\n    async def f(self, *x: int, y=None) -> str:\n        return f"{x!r:>3} {y}" + ...\n'
    )
    # As Python 3.11, 3.12 and 3.13 gave it; their ast.dump differs.
    assert store.code_hash(source) == "b762b41720140f27"
