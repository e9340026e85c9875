"""Benchmark indexes: what they hold, where they come from, and that they hold no source."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dedup_tasks import TASKS, framed

from ops6k.dedup.canonical import canonical
from ops6k.dedup.index import Reference, build_index, load_index, load_indexes, origin
from ops6k.dedup.subject import arguments
from ops6k.dedup.trace import with_init_inputs
from ops6k.dedup.variants import SURE
from ops6k.errors import MissingInput

COMMITTED = Path(__file__).parents[1] / "data/benchmarks/kernelbench.parquet"
LONGEST_NAME = 100


def folder_of(root: Path, files: dict[str, str]) -> Path:
    for name, code in files.items():
        path = root / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    return root / "source"


def test_a_folder_gives_names_levels_and_problem_numbers(tmp_path: Path) -> None:
    source = folder_of(
        tmp_path,
        {"level1/7_pair.py": TASKS["pair"].code, "level3/12_Gated.py": TASKS["gated"].code, "readme.py": "print('no task')"},
    )
    path = build_index(source, "mine", folder=tmp_path / "out")
    assert path == tmp_path / "out" / "mine.parquet"
    assert [(r.name, r.level, r.problem, r.benchmark) for r in load_index(path)] == [
        ("7_pair", 1, 7, "mine"),
        ("12_Gated", 3, 12, "mine"),
    ]
    assert (origin(path).references, origin(path).skipped) == (2, 1)


def test_an_earlier_version_counts_where_it_differs(tmp_path: Path) -> None:
    files = {"level1/1_a.py": TASKS["pair"].code, "v0/level1/1_a.py": SURE["resized"](TASKS["pair"].code)}
    files |= {"level1/2_b.py": TASKS["chain"].code, "v0/level1/2_b.py": TASKS["functions"].code}
    references = load_index(build_index(folder_of(tmp_path, files), "mine", folder=tmp_path))
    assert [r.name for r in references] == ["1_a", "2_b", "2_b@v0"]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    files = {"set/level_1/task_1/f.py": TASKS["pair"].code, "set/level_1/task_2/f.py": TASKS["chain"].code}
    files |= {"other/g.py": TASKS["functions"].code}
    source = folder_of(tmp_path, files)
    traced = build_index(source, "mine", folder=tmp_path, trace=lambda codes: [("mish",) if "mish" in c else None for c in codes])
    assert [(r.name, r.level, r.aten) for r in load_index(traced)] == [
        ("g", None, None),
        ("set/level_1/task_1/f", 1, ("mish",)),
        ("set/level_1/task_2/f", 1, None),
    ]


def test_a_function_given_as_a_default_is_followed_and_is_no_input() -> None:
    direct = framed("", "return torch.erf(x).cumsum(1)")
    passed = direct.replace("forward(self, x)", "forward(self, x, fn=compute)").replace("torch.erf(x).cumsum(1)", "fn(x)")
    passed = passed.replace("class Model", "def compute(t):\n    return torch.erf(t).cumsum(1)\n\nclass Model")
    assert canonical(passed).flow == canonical(direct).flow
    assert arguments(passed) == arguments(direct) == 1


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_table_with_a_code_column_can_be_indexed(tmp_path: Path, suffix: str) -> None:
    rows = [{"code": task.code, "name": name, "level": 2, "problem_id": i} for i, (name, task) in enumerate(TASKS.items())]
    source = tmp_path / f"rows.{suffix}"
    if suffix == "jsonl":
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), source)
    references = load_index(build_index(source, "mine", folder=tmp_path))
    assert {(r.name, r.level, r.canonical) for r in references} == {
        (name, 2, canonical(task.code).digest) for name, task in TASKS.items()
    }


def test_the_trace_fills_the_aten_operators(tmp_path: Path) -> None:
    source = folder_of(tmp_path, {"level1/1_pair.py": TASKS["pair"].code, "level1/2_chain.py": TASKS["chain"].code})
    path = build_index(
        source, "mine", folder=tmp_path, trace=lambda codes: [("addmm", "mish") if "mish" in code else None for code in codes]
    )
    assert [r.aten for r in load_index(path)] == [("addmm", "mish"), None]


@pytest.mark.slow
def test_the_dry_run_finds_aten_operators_in_the_sandbox() -> None:
    from ops6k.dedup.trace import aten_operators

    broken = TASKS["pair"].code.replace("F.mish", "F.no_such_operator")
    found = aten_operators([TASKS["pair"].code, broken, "raise SystemExit(3)"])
    assert found[0] is not None
    assert found[0][:2] == ("addmm", "mish")
    assert found[1:] == [None, None]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("gone", None, "neither a folder"),
        ("gone.parquet", None, "no such file"),
        ("torn.parquet", "PAR1 no more", "not a readable Parquet file"),
        ("torn.jsonl", '{"code": "x"}\n{"code": ', "line 2 is not JSON"),
        ("deep.jsonl", "[" * 100_000, "line 1 is not JSON"),
        ("long.jsonl", f'{{"level": {"9" * 5000}}}', "line 1 is not JSON"),
        ("other.jsonl", '{"text": "no code"}', "column `code`"),
        ("none.jsonl", '{"code": "x = 1"}', "no task found"),
    ],
)
def test_a_source_that_cannot_be_indexed_is_named_and_leaves_no_index(
    tmp_path: Path, name: str, content: str | None, says: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(MissingInput, match=says) as error:
        build_index(tmp_path / name, "mine", folder=tmp_path / "out")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_odd_rows_and_files_are_indexed_under_names_that_can_be_written(tmp_path: Path) -> None:
    code = TASKS["pair"].code
    rows = [{"code": code, "name": "a\ud800", "level": 2**70}, {"code": code + "#\u2028", "name": "b", "level": 2}]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = load_index(build_index(tmp_path / "set.jsonl", "rows", folder=tmp_path))
    assert {(one.name, one.level) for one in found} == {("a\\ud800", None), ("b", 2)}

    folder = tmp_path / "folder"
    (folder / "not_a_file.py").mkdir(parents=True)
    (folder / "dangling.py").symlink_to("nowhere.py")
    (folder / "bom.py").write_text(code, encoding="utf-8-sig")
    (folder / os.fsdecode(b"b\xe9d.py")).write_text(code, encoding="utf-8")
    made = build_index(folder, "files", folder=tmp_path)
    assert {one.name for one in load_index(made)} == {"bom", "b\\udce9d"} and origin(made).skipped == 0


@pytest.mark.slow
def test_a_hub_id_that_cannot_be_reached_is_one_line_and_leaves_no_index(tmp_path: Path) -> None:
    program = f"""
from ops6k.dedup.index import build_index
from ops6k.errors import HubError
try:
    build_index("nobody/no-such-set", "mine", folder={str(tmp_path / "out")!r})
except HubError as error:
    print(str(error).count(chr(10)), str(error)[:18])
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub"), "PYTHONPATH": str(COMMITTED.parents[2])}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=200, check=True
    )
    assert ran.stdout.strip() == "0 nobody/no-such-set"
    assert not (tmp_path / "out").exists()


def test_an_index_holds_no_source(tmp_path: Path) -> None:
    source = folder_of(tmp_path, {f"level1/{i}_{name}.py": task.code for i, (name, task) in enumerate(TASKS.items())})
    assert longest_text(build_index(source, "mine", folder=tmp_path)) <= LONGEST_NAME
    assert b"super" not in (tmp_path / "mine.parquet").read_bytes()


def longest_text(path: Path) -> int:
    """Characters of the longest string in any column, lists included."""
    columns = pq.read_table(path).to_pydict().values()
    values = [part for column in columns for value in column for part in (value if isinstance(value, list) else [value])]
    return max(len(value) for value in values if isinstance(value, str))


def test_the_committed_index_has_every_current_problem_of_kernelbench() -> None:
    current = [r for r in load_index(COMMITTED) if "@" not in r.name]
    assert Counter(r.level for r in current) == {1: 100, 2: 100, 3: 50, 4: 20}
    for level in (1, 2, 3, 4):
        assert sorted(r.problem for r in current if r.level == level) == list(
            range(1, 1 + Counter(r.level for r in current)[level])
        )


def test_the_committed_index_holds_no_source_and_says_where_it_comes_from() -> None:
    assert longest_text(COMMITTED) <= LONGEST_NAME
    made = origin(COMMITTED)
    assert made.source.endswith("ScalingIntelligence/KernelBench")
    assert made.references == len(load_index(COMMITTED))
    assert len(made.revision.split()[0]) == 40


def test_the_committed_index_knows_aten_operators_of_nearly_all_runnable_problems() -> None:
    runnable = [r for r in load_index(COMMITTED) if r.level != 4]
    assert sum(r.aten is not None for r in runnable) >= 0.95 * len(runnable)
    assert all(r.shingles == tuple(sorted(set(r.shingles))) for r in runnable)


def test_indexes_add_up(tmp_path: Path) -> None:
    source = folder_of(tmp_path, {"level1/7_pair.py": TASKS["pair"].code})
    path = build_index(source, "mine", folder=tmp_path)
    assert len(load_indexes([COMMITTED, path])) == len(load_index(COMMITTED)) + 1
    assert all(isinstance(reference, Reference) for reference in load_indexes([path]))


def test_a_name_that_is_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="letters"):
        build_index(tmp_path, "../mine", folder=tmp_path)


@pytest.mark.parametrize(("name", "references", "traced"), [("robust-kbench", 419, 0.95), ("multikernelbench", 401, 0.7)])
def test_the_other_committed_indexes_hold_every_task_and_no_source(name: str, references: int, traced: float) -> None:
    path = COMMITTED.with_name(f"{name}.parquet")
    found = load_index(path)
    assert len(found) == origin(path).references == references
    assert len({r.name for r in found}) == references
    assert sum(r.aten is not None for r in found) >= traced * references
    assert longest_text(path) <= LONGEST_NAME
    assert len(origin(path).revision) == 40


def test_tasks_without_init_inputs_get_empty_ones_for_the_dry_run_only() -> None:
    bare = "class Model: pass"
    assert with_init_inputs(bare).endswith("def get_init_inputs():\n    return []\n")
    assert with_init_inputs(TASKS["pair"].code) == TASKS["pair"].code
