"""The whole stage on recorded times: what it leaves in data/agent, and what it refuses."""

import csv
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from train_tasks import family_sketches, family_table, family_tasks, plan_time

from ops6k import params, store, train
from ops6k.errors import MissingInput, ParamsError
from ops6k.params import Params
from ops6k.records import Task
from ops6k.train import sketches, times
from ops6k.train.agent import Agent
from ops6k.train.bootstrap import Share
from ops6k.train.card import verdict
from ops6k.train.compare import STRATEGIES, Comparison, Shares
from ops6k.train.problems import problems
from ops6k.train.sketches import Made
from ops6k.train.times import PlanTime, PoisonedTimes

PARAMS = Path(__file__).resolve().parents[1] / "params.yaml"
FILES = {
    "model.safetensors", "config.json", "actions.json", "plan_times.parquet", "curve.csv", "curve.png", "results.json", "README.md",
}  # fmt: skip


def write_dataset(data: Path, **splits: Sequence[Task]) -> Path:
    """A data set, and the sketches of its tasks as an earlier run would have left them: the tasks' code is made up."""
    for name, tasks in splits.items():
        store.write_rows(data / "dataset" / "data" / f"{name}.parquet", tasks, Task)
    made = [Made(of, "") for tasks in splits.values() for of in family_sketches(tasks).values()]
    store.write_rows(data / ".work" / "sketches" / sketches.rules() / "made.parquet", made, Made)
    return data


def replaying(rows: Sequence[PlanTime], folder: Path, *settings: str) -> Params:
    path = store.write_rows(folder / "recorded.parquet", rows, PlanTime)
    fixed = (f"train.replay_times={path}", "train.tasks=20", "train.steps=256")
    return params.load(PARAMS, preset="demo", settings=(*fixed, *settings))


def results(data: Path) -> dict:
    return json.loads((data / "agent" / "results.json").read_text())


@pytest.mark.slow
def test_the_stage_leaves_weights_times_curves_comparison_and_card(tmp_path: Path):
    tasks = family_tasks(20)
    table = family_table(tasks)
    data = write_dataset(tmp_path, train=tasks[:14], validation=tasks[14:17], test=tasks[17:])
    report = train.run(replaying(table.rows(), tmp_path, "train.seeds=2"), data)
    agent = data / "agent"
    assert {path.name for path in agent.iterdir()} == FILES
    assert times.read(agent / "plan_times.parquet").rows() == table.rows()
    assert (report.taken, report.kept) == (len(table.rows()), sum(row.status == "correct" for row in table.rows()))
    held_out = results(data)["held_out"]
    assert (held_out["train_tasks"], held_out["how"]) == (14, "validation and test splits")
    found = held_out["comparison"]
    assert (found["tasks"], found["clusters"], found["seeds"]) == (6, 6, 2)
    assert set(found["one_attempt"]) == set(found["four_attempts"]) == set(STRATEGIES)
    assert found["one_attempt"]["always_default"]["mean_reward"] == 2.0
    assert results(data)["cross_validation"] is None and results(data)["problems"] is None
    curve = list(csv.DictReader((agent / "curve.csv").open()))
    assert {row["seed"] for row in curve} == {"0", "1"} and float(curve[-1]["mean_episode_reward"]) > 0
    assert results(data)["training"]["published_seed"] in (0, 1)

    _, head, body = (agent / "README.md").read_text().split("---\n", 2)
    tree = yaml.safe_load(head)
    reward = found["one_attempt"]["agent"]["mean_reward"]
    assert tree["license"] == "apache-2.0"
    assert tree["model-index"][0]["results"][0]["metrics"][0]["value"] == round(reward, 4)
    assert f"| this agent | {reward:.2f} |" in body and "6 tasks of 6 clusters judged (validation and test splits)" in body
    assert "mostly chance" in body and "a CPU" in body


@pytest.mark.slow
def test_cross_validation_judges_every_task_and_stands_beside_the_held_out_split(tmp_path: Path):
    tasks = family_tasks(9)
    data = write_dataset(tmp_path, train=tasks[:6], test=tasks[6:])
    train.run(replaying(family_table(tasks, 5).rows(), tmp_path, "train.folds=3"), data)
    found = results(data)
    assert found["held_out"]["comparison"]["tasks"] == 3
    assert found["cross_validation"]["comparison"]["tasks"] == 9
    assert len(found["cross_validation"]["comparison"]["best_fixed_plans"]) == 3
    assert "9 tasks of 9 clusters judged (cross-validation over clusters, 3 folds)" in (data / "agent" / "README.md").read_text()


@pytest.mark.slow
def test_the_same_times_and_seed_give_the_same_bytes_and_a_loadable_agent(tmp_path: Path):
    tasks = family_tasks(8)
    written = []
    for place in ("first", "second"):
        data = write_dataset(tmp_path / place, train=tasks[:6], test=tasks[6:])
        train.run(replaying(family_table(tasks, 5).rows(), tmp_path / place), data)
        Agent.from_pretrained(data / "agent")
        written.append(
            {name: (data / "agent" / name).read_bytes() for name in ("model.safetensors", "curve.csv", "results.json")}
        )
    assert written[0] == written[1]


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_very_few_tasks_in_any_one_split_are_enough(tmp_path: Path, split: str):
    tasks = family_tasks(1 if split == "validation" else 3)
    empty = {name: () for name in ("train", "validation", "test") if name != split}
    data = write_dataset(tmp_path, **{split: tasks}, **empty)
    train.run(replaying(family_table(tasks, 4).rows(), tmp_path, "train.steps=64"), data)
    assert "none held out" in results(data)["held_out"]["how"]


def test_a_data_set_without_a_task_or_times_for_other_tasks_stop_the_stage_and_leave_nothing(tmp_path: Path):
    tasks = family_tasks(4)
    recorded = replaying(family_table(tasks).rows(), tmp_path)
    with pytest.raises(MissingInput, match="ops6k assemble"):
        train.run(recorded, tmp_path)
    data = write_dataset(tmp_path, train=family_tasks(4, first=100))
    with pytest.raises(MissingInput, match="none of the 4 selected tasks"):
        train.run(recorded, data)
    assert not (data / "agent").exists()


def test_a_poisoned_table_to_replay_is_refused(tmp_path: Path):
    (of,) = family_tasks(1)
    data = write_dataset(tmp_path, train=[of])
    poisoned = dataclasses.replace(plan_time(of, "default"), ratio_eager=float("nan"))
    with pytest.raises(PoisonedTimes, match=rf"recorded\.parquet.*{of.task_id}.*default"):
        train.run(replaying([poisoned], tmp_path), data)


def test_the_published_times_are_a_plain_parquet_table(tmp_path: Path):
    tasks = family_tasks(2)
    train.run(replaying(family_table(tasks, 4).rows(), tmp_path, "train.steps=64"), write_dataset(tmp_path, train=tasks))
    columns = pq.read_table(tmp_path / "agent" / "plan_times.parquet").column_names
    assert {"task_id", "plan", "device", "torch", "triton", "ratio_eager_low", "ratio_compiled_low", "status"} <= set(columns)


@pytest.mark.parametrize(("setting", "complaint"), [("folds=0", "1 or more"), ("seeds=0", "1 or more"), ("plans=1", "2 or more")])
def test_parameters_that_make_no_sense_are_refused(setting: str, complaint: str):
    with pytest.raises(ParamsError, match=rf"train\.{setting.partition('=')[0]}: must be {complaint}"):
        params.load(PARAMS, settings=[f"train.{setting}"])


def shares(agent: float, low: float, tree: float, forest: float) -> Comparison:
    found = {"agent": Share(agent, low, 0.9), "tree": Share(tree, 0.0, 1.0), "forest": Share(forest, 0.0, 1.0)}
    return Comparison(40, 40, 3, ("default",), {}, {}, {name: Shares(share, share) for name, share in found.items()})


def test_the_card_says_in_words_who_wins():
    assert "surely closes some" in verdict(shares(0.5, 0.1, 0.2, 0.4))
    assert "Neither the decision tree nor the random forest" in verdict(shares(0.5, 0.1, 0.2, 0.5))
    lost = verdict(shares(0.3, -0.1, 0.2, 0.4))
    assert "does not surely close" in lost and "The random forest on the same features does better" in lost
    assert "decision tree and the random forest on the same features do better" in verdict(shares(0.1, 0.0, 0.2, 0.4))


def test_without_a_folder_there_are_no_problems_and_an_empty_one_is_an_error(tmp_path: Path):
    from ops6k import target

    build = params.load(PARAMS, preset="demo", settings=[f"train.problems={tmp_path}"])
    machine = target.load(build.path(build.target))
    assert problems(params.load(PARAMS, preset="demo"), machine, tmp_path) is None
    with pytest.raises(MissingInput, match=r"no \.py file"):
        problems(build, machine, tmp_path)


@pytest.mark.slow
def test_problems_of_a_folder_become_tasks_of_their_own_and_what_the_screen_rejects_is_counted(tmp_path: Path):
    from ops6k import target

    folder = tmp_path / "problems"
    folder.mkdir()
    body = "    def forward(self, x):\n        return {}\n\n\ndef get_inputs():\n    return [torch.randn(64, 1024)]\n\n\ndef get_init_inputs():\n    return []\n"
    head = "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n"
    (folder / "1_tanh.py").write_text(head + body.format("torch.tanh(x) * x"))
    (folder / "2_noise.py").write_text(head + body.format("x + torch.rand_like(x)"))
    build = params.load(PARAMS, preset="demo", settings=[f"train.problems={folder}"])
    machine = target.load(build.path(build.target))
    found = problems(build, machine, tmp_path / ".work")
    assert found is not None and found.files == 2 and len(found.tasks) == 1
    assert found.tasks[0].work.operators and found.tasks[0].timing.eager_ms > 0
    assert problems(build, machine, tmp_path / ".work") == found


def test_the_command_fills_the_table_for_so_many_tasks_and_trains_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from ops6k.commands.agent import measure

    tasks = family_tasks(8)
    data = write_dataset(tmp_path, train=tasks[:6], test=tasks[6:])
    recorded = store.write_rows(tmp_path / "recorded.parquet", family_table(tasks).rows(), PlanTime)
    measure(tasks=4, plans=3, preset="demo", settings=[f"train.replay_times={recorded}"], params=PARAMS, data=data)
    assert capsys.readouterr().out.startswith("4 of 4 tasks are measured: ")
    assert not (data / "agent").exists()
