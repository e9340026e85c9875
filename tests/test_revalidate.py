"""Revalidating: the screen again on this machine, rows that say where they passed, and a new version that loads."""

import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import synthetic_build as synthetic
from dedup_tasks import framed

from ops6k import params as parameters
from ops6k.assemble import run
from ops6k.errors import MissingInput
from ops6k.records import Candidate, Outcome, Reason, Task, candidate_id, task_id
from ops6k.revalidate import HEADING, Revalidated, revalidate
from ops6k.store import read_rows, write_rows

ROOT = Path(__file__).parents[1]
PARAMS = parameters.load(ROOT / "params.yaml", settings=["screen.window_ms=[0.00001, 1000]"])
SOUND = ("torch.kthvalue",), framed("", "return torch.kthvalue(x, 3, dim=1)[0]")
BROKEN = ("torch.erf",), framed("", "return torch.erf(x @ x)")
SMALL = (
    ("torch.cumsum", "torch.erf"),
    framed("", "return torch.erf(x.cumsum(1) * 0.01)")
    .replace("import torch\n", "import torch\nROWS = 64\n", 1)
    .replace("torch.randn(64, 256)", "torch.randn(ROWS, 256)"),
)


def _candidate(number: int, ops: tuple[str, ...], code: str) -> Candidate:
    return Candidate(candidate_id(ops, code), ops, code, "composer", number, "float32", ("activation",) * len(ops))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set as another machine would have left it: of three rows one does not run, and one is small."""
    root = tmp_path_factory.mktemp("elsewhere")
    made = [_candidate(number, *one) for number, one in enumerate((SOUND, BROKEN, SMALL))]
    build = synthetic.plain_build([])
    elsewhere = replace(synthetic.CPU, device="another GPU", torch="2.99")
    build = replace(
        build,
        candidates=made,
        verdicts=[synthetic.accepted(one, environment=elsewhere) for one in made],
        clusters=[(one.candidate_id, one.candidate_id) for one in made],
    )
    data = synthetic.write_build(build, root)
    run(synthetic.params(root, 3, "allow", splits=(1.0, 0.0, 0.0)), data)
    return data / "dataset"


def rows(folder: Path) -> dict[str, Task]:
    return {task.ops[0]: task for file in (folder / "data").glob("*.parquet") for task in read_rows(file, Task)}


@pytest.fixture(scope="module")
def again(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Revalidated, Path]:
    root = tmp_path_factory.mktemp("here")
    return revalidate(dataset, root / "new", PARAMS, root / "work", device="cpu"), root / "new"


@pytest.mark.slow
def test_each_row_says_where_it_passed_and_where_not(again: tuple[Revalidated, Path], dataset: Path) -> None:
    found, new = again
    before, after = rows(dataset), rows(new)
    assert (found.rows, found.passed, found.reasons) == (3, 2, {str(Reason.RUNTIME): 1})
    for name, task in after.items():
        assert [one.device for one in task.validations] == ["another GPU", "cpu"]
        assert task.code == before[name].code
    sound, broken = after["torch.kthvalue"], after["torch.erf"]
    assert sound.validations[1].outcome is Outcome.ACCEPTED and sound.environment.device == "cpu"
    assert sound.timing.eager_ms == sound.validations[1].eager_ms != sound.validations[0].eager_ms
    assert broken.validations[1].reason is Reason.RUNTIME and broken.environment == before["torch.erf"].environment


@pytest.mark.slow
def test_the_new_version_loads_with_every_config_and_its_card_says_where(again: tuple[Revalidated, Path]) -> None:
    from datasets import load_dataset

    _, new = again
    loaded = load_dataset(str(new))["train"]
    assert {row["ops"][0]: [one["outcome"] for one in row["validations"]] for row in loaded} == {
        "torch.kthvalue": ["accepted", "accepted"],
        "torch.erf": ["accepted", "invalid"],
        "torch.cumsum": ["accepted", "accepted"],
    }
    assert len(load_dataset(str(new), "funnel")["train"]) == 3
    card = (new / "README.md").read_text(encoding="utf-8")
    times = card.partition("## Time and headroom")[2].partition("\n## ")[0]
    here = rows(new)["torch.kthvalue"].environment.torch
    assert f"torch {here}" in times and "torch 2.99" in times  # of the row that did not pass here
    assert card.count(HEADING) == 1 and "| cpu | " in card and "| another GPU | 2.99 | accepted | 3 |" in card


@pytest.mark.slow
def test_once_more_on_the_same_machine_adds_nothing_and_screens_nothing(
    again: tuple[Revalidated, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, new = again
    monkeypatch.setattr("ops6k.screen.shards.judged", None)
    assert revalidate(new, tmp_path / "newer", PARAMS, new.parent / "work", device="cpu") == found
    assert rows(tmp_path / "newer") == rows(new)
    assert (tmp_path / "newer" / "README.md").read_text(encoding="utf-8") == (new / "README.md").read_text(encoding="utf-8")


def test_a_card_without_the_marks_is_one_line_before_anything_runs(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops6k.screen.shards.judged", None)
    shutil.copytree(dataset, tmp_path / "set")
    (tmp_path / "set" / "README.md").write_text("# A card\n", encoding="utf-8")
    with pytest.raises(MissingInput, match=r"set/README\.md: no <!-- measured: banner --> in it"):
        revalidate(tmp_path / "set", tmp_path / "out", PARAMS, tmp_path / "work", device="cpu")


@pytest.mark.slow
def test_a_task_outside_the_window_is_fitted_on_request(dataset: Path, tmp_path: Path) -> None:
    small = next(task for task in rows(dataset).values() if task.ops == SMALL[0])
    (tmp_path / "set" / "data").mkdir(parents=True)
    write_rows(tmp_path / "set" / "data" / "train.parquet", [small], Task)
    narrow = replace(PARAMS, screen=replace(PARAMS.screen, window_ms=(2.0, 1000.0)))
    fitted = revalidate(tmp_path / "set", tmp_path / "fitted", narrow, tmp_path / "work", device="cpu", fit=True)
    assert (fitted.passed, fitted.fitted) == (1, 1)
    (task,) = rows(tmp_path / "fitted").values()
    assert task.code != small.code and task.task_id == task_id(task.code)
    assert task.parent is not None and [one.device for one in task.validations] == ["cpu"]
    assert task.timing.eager_high_ms >= 2.0


def test_what_is_no_data_set_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    for source in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(MissingInput, match=r"no folder of a data set|no data/\*\.parquet"):
            revalidate(source, tmp_path / "out", PARAMS, tmp_path / "work", device="cpu")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_past_the_deadline_nothing_is_written_and_the_next_run_goes_on(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="3 rows were not screened"):
        revalidate(dataset, tmp_path / "out", PARAMS, tmp_path / "work", device="cpu", deadline_s=0)
    assert not (tmp_path / "out").exists()
    assert pq.read_table(dataset / "data" / "train.parquet").num_rows == 3
