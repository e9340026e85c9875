"""Exports of a data set: what trainers, KernelBench's layout and an agent's work folder hold, read back by what will read them."""

import ast
import csv
import hashlib
import inspect
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import synthetic_build as synthetic
import yaml

from ops6k.assemble.join import Story
from ops6k.assemble.tasks import task_of, write_splits
from ops6k.errors import MissingInput, Ops6kError
from ops6k.export import export_set, export_task
from ops6k.export.kernelbench import readable_name
from ops6k.export.prompt import fence
from ops6k.export.stub import signatures
from ops6k.records import Task, task_id
from ops6k.reward import Score, Status
from ops6k.store import files_hash, from_plain, read_rows, to_plain, write_rows
from ops6k.task_rows import splits_of

ROOT = Path(__file__).parents[1]
PROMPTS = ROOT / "prompts"
TABLES = ("cuda-agent", "verl", "trl")
TRAIN, TEST = 9, 3


def story(number: int, depth: int, code: str | None = None, ops: tuple[str, ...] | None = None) -> Story:
    made = synthetic.candidate(number, depth, transformers=number % 5 == 4)
    made = replace(made, code=code or made.code, ops=ops or made.ops)
    return Story(made, synthetic.accepted(made, environment=synthetic.H200), (), f"c{number}")


def with_code(code: str) -> Task:
    return task_of(story(0, 1, code))


# Line ends and characters that text mode, or an eager formatter, would change.
ODD_CODE = synthetic.candidate(40, 1).code.replace("\n", "\r\n") + "# ε ≤ 1e-3, ```python\t\r\n# no line end, λ"


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps what `datasets` caches out of the home folder."""
    import datasets

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        yield


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve tasks of depth 1 to 4 in two splits, a third split without rows."""
    folder = tmp_path_factory.mktemp("build") / "data" / "dataset"
    train = [story(n, 1 + n % 4) for n in range(TRAIN - 1)]
    train.append(story(50, 1, ODD_CODE, ("../../etc/passwd; rm -rf ~/*\n\x00é",)))
    write_splits(folder, {"train": train, "validation": [], "test": [story(20 + n, 2) for n in range(TEST)]})
    return folder


@pytest.fixture(scope="module")
def tasks(dataset: Path) -> dict[str, Task]:
    files = (dataset / "data").glob("*.parquet")
    return {task.task_id: task for file in files for task in read_rows(file, Task)}


def exported(dataset: Path, name: str, out: Path, **options: str) -> Path:
    export_set(str(dataset), name, out, prompts=PROMPTS, **options)
    return out


# Tables


def test_cuda_agent_has_exactly_the_columns_of_the_reference_set(dataset: Path, tasks: dict[str, Task], tmp_path: Path) -> None:
    frame = pd.read_parquet(exported(dataset, "cuda-agent", tmp_path / "out") / "train.parquet")
    assert list(frame.columns) == ["ops", "data_source", "code"]
    by_code = {task.code: task for task in tasks.values()}
    assert len(frame) == TRAIN
    for row in frame.itertuples():
        assert tuple(json.loads(row.ops)) == by_code[row.code].ops
        assert row.data_source == by_code[row.code].data_source
    assert {"torch#1", "torch#2", "transformers"} <= set(frame.data_source)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_one_file_a_split_and_loads_with_datasets_by_builder_and_by_folder(
    dataset: Path, name: str, tmp_path: Path
) -> None:
    from datasets import load_dataset

    out = exported(dataset, name, tmp_path / "out")
    files = {path.stem: str(path) for path in out.glob("*.parquet")}
    assert set(files) == {"train", "test"}  # datasets cannot read a file of no rows: the empty split has none
    for loaded in (load_dataset("parquet", data_files=files), load_dataset(str(out))):
        assert {split: len(rows) for split, rows in loaded.items()} == {"train": TRAIN, "test": TEST}
        for split, rows in loaded.items():
            assert rows.to_list() == pq.read_table(files[split]).to_pylist()


def test_verl_rows_have_its_columns_and_a_ground_truth_that_is_enough_to_score(
    dataset: Path, tasks: dict[str, Task], tmp_path: Path
) -> None:
    out = exported(dataset, "verl", tmp_path / "out")
    for split in ("train", "test"):
        table = pq.read_table(out / f"{split}.parquet")
        assert table.column_names == ["data_source", "prompt", "ability", "reward_model", "extra_info"]
        for index, row in enumerate(table.to_pylist()):
            truth, told = json.loads(row["reward_model"]["ground_truth"]), row["extra_info"]
            task = tasks[truth["task_id"]]
            assert truth == {"code": task.code, "atol": 1e-3, "rtol": 1e-3, "task_id": task.task_id}
            assert (row["data_source"], row["ability"], row["reward_model"]["style"]) == ("ops6k", "kernel", "rule")
            assert told == {
                "split": split,
                "index": index,
                "task_id": task.task_id,
                "ops": list(task.ops),
                "depth": task.depth,
                "eager_ms": task.timing.eager_ms,
                "compiled_ms": task.timing.compiled_ms,
            }


def test_trl_rows_carry_what_a_reward_function_is_handed(dataset: Path, tasks: dict[str, Task], tmp_path: Path) -> None:
    rows = pq.read_table(exported(dataset, "trl", tmp_path / "out") / "test.parquet").to_pylist()
    assert len(rows) == TEST
    for row in rows:
        task = tasks[row["task_id"]]
        assert set(row) == {"prompt", "task_id", "code", "atol", "rtol", "ops", "split"}
        assert (row["code"], tuple(row["ops"]), row["split"]) == (task.code, task.ops, "test")
        assert (row["atol"], row["rtol"]) == (task.checks.atol, task.checks.rtol)


@pytest.mark.parametrize("name", ["verl", "trl"])
def test_a_prompt_is_one_users_message_with_the_code_the_tolerance_the_times_and_the_rule(
    dataset: Path, tasks: dict[str, Task], name: str, tmp_path: Path
) -> None:
    for row in pq.read_table(exported(dataset, name, tmp_path / "out") / "train.parquet").to_pylist():
        (message,) = row["prompt"]
        assert message["role"] == "user"
        text = message["content"]
        task = tasks[row["task_id"] if name == "trl" else row["extra_info"]["task_id"]]
        assert task.code in text
        assert "0.001 + 0.001 * |reference|" in text and f"{task.timing.eager_ms:.3g} ms in eager mode" in text
        assert f"{task.timing.compiled_ms:.3g} ms under the default torch.compile" in text
        assert "ModelNew" in text and "Triton" in text and "kernelbench" not in text.lower()


def test_a_fence_of_the_prompt_is_longer_than_any_in_the_code() -> None:
    assert fence("x = 1") == "```"
    assert fence(ODD_CODE) == "````"


def test_a_row_without_recommended_tolerances_gets_the_screens_default(dataset: Path, tmp_path: Path) -> None:
    (task, *_) = read_rows(dataset / "data" / "test.parquet", Task)
    write_rows(tmp_path / "mine.parquet", [replace(task, checks=replace(task.checks, atol=None, rtol=None))], Task)
    out = exported(tmp_path / "mine.parquet", "trl", tmp_path / "out")
    (row,) = pq.read_table(out / "mine.parquet").to_pylist()
    assert (row["atol"], row["rtol"]) == (1e-2, 1e-2)


# KernelBench's layout


def index_of(out: Path) -> list[dict[str, str]]:
    with (out / "index.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_problem_is_its_rows_code_byte_for_byte_and_defines_what_a_harness_calls(
    dataset: Path, tasks: dict[str, Task], tmp_path: Path
) -> None:
    out = exported(dataset, "kernelbench", tmp_path / "out")
    index = index_of(out)
    assert sorted(row["task_id"] for row in index) == sorted(tasks)
    assert sorted(row["file"] for row in index) == sorted(str(path.relative_to(out)) for path in out.rglob("*.py"))
    for row in index:
        content = (out / row["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest()[:16] == row["task_id"]
        assert tuple(json.loads(row["ops"])) == tasks[row["task_id"]].ops
        defined: dict[str, object] = {"__name__": "problem"}
        exec(compile(content, row["file"], "exec"), defined)
        assert {"Model", "get_inputs", "get_init_inputs"} <= set(defined)


def test_problems_are_numbered_from_one_in_each_level_in_order_of_task_id(
    dataset: Path, tasks: dict[str, Task], tmp_path: Path
) -> None:
    levels: dict[int, list[tuple[int, str]]] = {}
    for row in index_of(exported(dataset, "kernelbench", tmp_path / "out")):
        level, number = re.match(r"level(\d+)/(\d+)_", row["file"]).groups()
        assert int(level) == tasks[row["task_id"]].depth
        levels.setdefault(int(level), []).append((int(number), row["task_id"]))
    assert set(levels) == {1, 2, 3, 4}
    for found in levels.values():
        assert [number for number, _ in sorted(found)] == list(range(1, len(found) + 1))
        assert [id_ for _, id_ in sorted(found)] == sorted(id_ for _, id_ in found)


def test_names_of_problems_are_unique_and_of_letters_digits_and_underscores(dataset: Path, tmp_path: Path) -> None:
    out = exported(dataset, "kernelbench", tmp_path / "out")
    files = [row["file"] for row in index_of(out)]
    assert len(set(map(str.lower, files))) == len(files) == TRAIN + TEST
    assert all(re.fullmatch(r"level\d+/\d+_[A-Za-z0-9_]+\.py", file) for file in files)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


@pytest.mark.parametrize(
    ("ops", "name"),
    [
        (("nn.Conv2d", "F.relu"), "Conv2d_relu"),
        (("torch.nn.functional.gelu", "torch.linalg.norm"), "gelu_linalg_norm"),
        (("transformers.NewGELUActivation",), "NewGELUActivation"),
        (("../..",), "task"),
        (("é",), "task"),
        (("nn.X", "F.y" * 200), ("X_y" + "F_y" * 200)[:100]),
    ],
)
def test_a_name_says_which_operators_without_their_libraries(ops: tuple[str, ...], name: str) -> None:
    assert readable_name(ops) == name


# A work folder


@pytest.fixture(scope="module")
def workdir(dataset: Path, tasks: dict[str, Task], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, _ = export_task(str(dataset), task_id(ODD_CODE)[:8], tmp_path_factory.mktemp("work"))
    return place


def test_a_work_folder_holds_the_code_byte_for_byte_and_the_whole_row(workdir: Path, tasks: dict[str, Task]) -> None:
    assert (workdir / "model.py").read_bytes() == ODD_CODE.encode()
    row = json.loads((workdir / "task.json").read_text(encoding="utf-8"))
    assert workdir.name == row["task_id"]
    assert from_plain(Task, row) == tasks[row["task_id"]]


def test_scripts_compile_answer_help_without_torch_and_ask_for_the_score_lazily(workdir: Path) -> None:
    for name in ("verify.py", "profile_kernel.py"):
        tree = ast.parse((workdir / name).read_text(encoding="utf-8"))
        assert "ops6k.reward" not in {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
        assert any(isinstance(node, ast.ImportFrom) and node.module == "ops6k.reward" for node in ast.walk(tree))
        block_torch = "import sys, runpy; sys.modules['torch'] = None; sys.argv = [sys.argv[1], '--help']; runpy.run_path(sys.argv[0], run_name='__main__')"
        done = subprocess.run(
            [sys.executable, "-c", block_torch, str(workdir / name)], capture_output=True, text=True, check=True
        )
        assert "--device" in done.stdout


@pytest.mark.parametrize("script", ["verify.py", "profile_kernel.py"])
@pytest.mark.parametrize("words", [[], ["--allow-torch"]])
def test_both_scripts_let_a_first_draft_compute_with_torch(
    workdir: Path, script: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    allowed: list[bool] = []

    def score(*_: object, allow_torch: bool, **__: object) -> Score:
        allowed.append(allow_torch)
        return Score(-1, Status.WRONG, "", allow_torch)

    monkeypatch.setattr("ops6k.reward.score", score)
    monkeypatch.setattr(sys, "argv", [script, *words])
    with pytest.raises(SystemExit):
        runpy.run_path(str(workdir / script), run_name="__main__")
    assert allowed == [bool(words)] and "on a CPU about" in capsys.readouterr().err


def test_no_file_of_a_work_folder_hides_a_module_of_python(workdir: Path) -> None:
    assert not {path.stem for path in workdir.glob("*.py")} & sys.stdlib_module_names
    subprocess.run([sys.executable, "-c", "import cProfile, model_new"], cwd=workdir, check=True)


@pytest.mark.slow
def test_the_profile_of_the_reference_lists_its_operators(workdir: Path) -> None:
    words = [sys.executable, "profile_kernel.py", "--kernels", "model.py", "--device", "cpu"]
    done = subprocess.run(words, cwd=workdir, capture_output=True, text=True, check=True)
    assert "aten::mul" in done.stdout


def test_the_rules_state_the_rows_tolerance_times_and_roofline_and_open_with_a_head(
    workdir: Path, tasks: dict[str, Task]
) -> None:
    text, task = (workdir / "SKILL.md").read_text(encoding="utf-8"), tasks[workdir.name]
    head = yaml.safe_load(text.split("---\n")[1])
    assert text.startswith("---\n") and set(head) == {"name", "description"} and head["name"] == f"kernel-{task.task_id}"
    for part in (f"{task.timing.eager_ms:.3g} ms", f"{task.work.sol_ms:.3g} ms", "0.001 + 0.001", "allow_torch", "1.05"):
        assert part in text


def stub_of(code: str, tmp_path: Path) -> dict[str, object]:
    """What the model_new.py of a task with this code defines."""
    task = with_code(code)
    write_rows(tmp_path / "one.parquet", [task], Task)
    place, _ = export_task(str(tmp_path / "one.parquet"), task.task_id, tmp_path / "work")
    defined: dict[str, object] = {"__name__": "model_new"}
    exec((place / "model_new.py").read_text(encoding="utf-8"), defined)
    return defined


PLAIN = "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return x.cos()\n"
DEFAULTS = """\
import math as m
from typing import Optional

import torch
from torch import nn

WIDTH = 8
SCALE = WIDTH / m.pi
UNUSED = 3


class Model(nn.Module):
    def __init__(self, width: int = WIDTH, *, scale: Optional[float] = SCALE, dtype=torch.float32):
        super().__init__()

    def forward(self, x: torch.Tensor, /, *others: "Later", mask=None, **more):
        return x
"""
INHERITED = PLAIN.replace("Model", "Base").replace("(self, x)", "(self, x, power=2)") + "\n\nclass Model(Base):\n    pass\n"


@pytest.mark.parametrize("code", [PLAIN, DEFAULTS, INHERITED, synthetic.candidate(1, 2).code, ODD_CODE])
def test_a_stub_has_the_references_signatures_and_is_not_implemented(code: str, tmp_path: Path) -> None:
    reference: dict[str, object] = {"__name__": "model"}
    exec(code, reference)
    new = stub_of(code, tmp_path)["ModelNew"]
    methods = ["forward"] if code in (PLAIN, INHERITED) else ["__init__", "forward"]  # nn.Module's own takes anything
    for method in methods:
        wanted, given = (
            [(p.name, p.kind, p.default) for p in inspect.signature(getattr(kind, method)).parameters.values()]
            for kind in (reference["Model"], new)
        )
        assert given == wanted
    with pytest.raises(NotImplementedError):
        new(*[8] * (synthetic.candidate(1, 2).code == code or code == ODD_CODE))
    with pytest.raises(NotImplementedError):
        new.forward(new.__new__(new), None)


def test_a_stub_takes_along_only_what_its_defaults_need() -> None:
    assert signatures(with_code(DEFAULTS)).needed == ("import math as m", "import torch", "WIDTH = 8", "SCALE = WIDTH / m.pi")


@pytest.mark.parametrize("code", ["def f(:", "x = 1\n", "class Model:\n    pass\n", "class Model(Model):\n    pass\n", "\0"])
def test_code_without_a_model_gives_no_work_folder_and_one_line(code: str, tmp_path: Path) -> None:
    with pytest.raises(Ops6kError, match=r"the code (is no Python|has no class Model)") as told:
        stub_of(code, tmp_path)
    assert "\n" not in str(told.value)
    assert not list((tmp_path / "work").glob("*"))


def test_a_prefix_must_name_one_task(dataset: Path, tasks: dict[str, Task], tmp_path: Path) -> None:
    shared = next(first for first in "0123456789abcdef" if sum(id_[0] == first for id_ in tasks) > 1)
    missing = next(f"{n:03x}" for n in range(4096) if not any(id_.startswith(f"{n:03x}") for id_ in tasks))
    for prefix, says in (
        (shared, "tasks begin with"),
        (missing, "no task's id begins"),
        ("../x", "no task id"),
        ("", "no task id"),
    ):
        with pytest.raises(Ops6kError, match=says) as told:
            export_task(str(dataset), prefix, tmp_path)
        assert "\n" not in str(told.value)
    assert not list(tmp_path.iterdir())


def test_a_work_folder_that_holds_files_is_never_replaced(dataset: Path, tmp_path: Path) -> None:
    wanted = (str(dataset), task_id(ODD_CODE), tmp_path)
    place, _ = export_task(*wanted)
    (place / "model_new.py").write_text("# hours of work", encoding="utf-8")
    with pytest.raises(Ops6kError, match="holds files"):
        export_task(*wanted)
    assert (place / "model_new.py").read_text(encoding="utf-8") == "# hours of work"


# Where it goes


def test_an_export_takes_the_place_of_an_earlier_one_and_of_nothing_else(dataset: Path, tmp_path: Path) -> None:
    out = exported(dataset, "kernelbench", tmp_path / "out")
    exported(dataset, "cuda-agent", out)
    assert {path.name for path in out.iterdir()} == {"train.parquet", "test.parquet", ".ops6k-export"}
    for taken in (dataset, tmp_path, tmp_path / "out" / "train.parquet", tmp_path / "out" / "train.parquet" / "below"):
        before = files_hash(dataset), files_hash(tmp_path)
        with pytest.raises(Ops6kError, match="give another --out") as told:
            exported(dataset, "trl", taken)
        assert "\n" not in str(told.value) and (files_hash(dataset), files_hash(tmp_path)) == before


def test_the_same_export_twice_is_the_same_bytes(dataset: Path, tmp_path: Path) -> None:
    for name in (*TABLES, "kernelbench"):
        assert files_hash(exported(dataset, name, tmp_path / "a")) == files_hash(exported(dataset, name, tmp_path / "b"))


def test_an_export_that_fails_leaves_the_earlier_one_and_nothing_beside_it(dataset: Path, tmp_path: Path) -> None:
    before = files_hash(exported(dataset, "cuda-agent", tmp_path / "out"))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "kernel.j2").write_text("{{ code }} {{ unknown }}", encoding="utf-8")
    with pytest.raises(Ops6kError, match="unknown"):
        export_set(str(dataset), "verl", tmp_path / "out", prompts=tmp_path / "prompts")
    assert files_hash(tmp_path / "out") == before
    assert {path.name for path in tmp_path.iterdir()} == {"out", "prompts"}


# What is read


def test_one_split_can_be_taken_alone(dataset: Path, tmp_path: Path) -> None:
    out = exported(dataset, "kernelbench", tmp_path / "out", split="test")
    assert {row["split"] for row in index_of(out)} == {"test"} and len(index_of(out)) == TEST


def test_a_file_and_shards_of_a_split_are_read_as_splits(dataset: Path, tmp_path: Path) -> None:
    rows = read_rows(dataset / "data" / "train.parquet", Task)
    for number, part in enumerate((rows[:4], rows[4:])):
        write_rows(tmp_path / "data" / f"train-0000{number}-of-00002.parquet", part, Task)
    assert splits_of(str(tmp_path)) == {"train": rows} == splits_of(str(dataset / "data" / "train.parquet"))


def _other_code(row: dict) -> None:
    row["code"] += "\n"


def _ops_as_text(row: dict) -> None:
    row["ops"] = json.dumps(row["ops"])


def _no_timing(row: dict) -> None:
    row["timing"] = None


def _other_timing(row: dict) -> None:
    row["timing"] = {"eager": 1.0}


def _no_seed(row: dict) -> None:
    del row["seed"]


@pytest.mark.parametrize("spoil", [_other_code, _ops_as_text, _no_timing, _other_timing, _no_seed])
def test_rows_of_another_shape_are_one_line_that_names_the_file(
    spoil: Callable[[dict], None], dataset: Path, tmp_path: Path
) -> None:
    rows = [to_plain(task) for task in read_rows(dataset / "data" / "test.parquet", Task)]
    for row in rows:
        spoil(row)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "mine.parquet")
    with pytest.raises(MissingInput, match=r"mine\.parquet") as told:
        exported(tmp_path / "mine.parquet", "trl", tmp_path / "out")
    assert "\n" not in str(told.value) and not (tmp_path / "out").exists()


# The command


def ops6k(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "ops6k", *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_help_lists_export() -> None:
    assert re.search(r"\bexport\b.*verl", ops6k("--help", cwd=ROOT).stdout)
    assert "kernelbench" in ops6k("export", "--help", cwd=ROOT).stdout


def test_the_data_set_of_the_project_goes_below_its_data_folder(dataset: Path) -> None:
    project, id_ = dataset.parents[1], task_id(ODD_CODE)
    (project / "prompts").symlink_to(PROMPTS)
    done = ops6k("export", "--format", "trl", cwd=project)
    assert done.stderr == "" and done.stdout == "data/export/trl\n  train.parquet: 9 rows\n  test.parquet: 3 rows\n"
    assert (project / "data" / "export" / "trl" / "train.parquet").is_file()
    for words in ([id_[:10]], ["data/dataset", id_], ["--task", id_.upper(), "--split", "train"]):
        out = project / f"work-{len(words)}"
        assert ops6k("export", "--format", "workdir", *words, "--out", str(out), cwd=project).stderr == ""
        assert (out / id_ / "model.py").read_bytes() == ODD_CODE.encode()


@pytest.mark.parametrize(
    ("words", "code", "names"),
    [
        (["--format", "frobnicate"], 2, "frobnicate"),
        ([], 2, "--format"),
        (["--format", "trl"], 1, "ops6k assemble"),
        (["--format", "trl", "nowhere"], 1, "nowhere"),
        (["--format", "trl", "."], 1, "no data/*.parquet"),
        (["--format", "trl", "bad.parquet"], 1, "bad.parquet"),
        (["--format", "trl", "{dataset}", "--out", "out"], 1, "kernel.j2"),
        (["--format", "cuda-agent", "{dataset}", "--split", "dev"], 1, "'dev'"),
        (["--format", "cuda-agent", "{dataset}", "--split", "validation"], 1, "no task in split validation"),
        (["--format", "cuda-agent", "{dataset}", "--task", "3fa9"], 1, "workdir"),
        (["--format", "workdir"], 1, "one task"),
        (["--format", "workdir", "a", "b", "--task", "c"], 1, "one task"),
        (["--format", "workdir", "{dataset}", "zz"], 1, "'zz'"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    dataset: Path, tmp_path: Path, words: list[str], code: int, names: str
) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and then nothing")
    done = ops6k("export", *(word.format(dataset=dataset) for word in words), cwd=tmp_path)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (code, "") and line.startswith("error: ") and names in line
    assert {path.name for path in tmp_path.iterdir()} == {"bad.parquet"}


@pytest.mark.slow
def test_a_data_set_on_the_hub_is_exported_by_its_id(dataset: Path, tasks: dict[str, Task], tmp_path: Path) -> None:
    from huggingface_hub import HfApi
    from servers import hub_server

    card = {
        "configs": [
            {"config_name": "default", "data_files": [{"split": s, "path": f"data/{s}.parquet"} for s in ("train", "test")]}
        ]
    }
    with hub_server.running() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        api = HfApi(endpoint=server.url, token=hub_server.TOKEN)
        api.create_repo("lab/mine", repo_type="dataset", private=True)
        api.upload_file(
            path_or_fileobj=f"---\n{yaml.safe_dump(card)}---\n".encode(),
            path_in_repo="README.md",
            repo_id="lab/mine",
            repo_type="dataset",
        )
        api.upload_folder(folder_path=dataset, repo_id="lab/mine", repo_type="dataset", allow_patterns=["data/t*.parquet"])
        # A process of its own: datasets reads HF_ENDPOINT when it is imported.
        patch.setenv("HF_ENDPOINT", server.url)
        patch.setenv("HF_TOKEN", hub_server.TOKEN)
        patch.setenv("HF_HOME", str(tmp_path / "home"))
        patch.setenv("HF_HUB_DISABLE_XET", "1")
        done = ops6k("export", "lab/mine", "--format", "cuda-agent", "--out", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    local = exported(dataset, "cuda-agent", tmp_path / "local")
    for split in ("train", "test"):
        assert pq.read_table(tmp_path / "out" / f"{split}.parquet") == pq.read_table(local / f"{split}.parquet")
