"""The whole stage on recorded times: what it leaves in data/agent, and what it refuses."""

import csv
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from train_tasks import family_table, family_tasks, plan_time

from ops6k import params, store, train
from ops6k.errors import MissingInput
from ops6k.params import Params
from ops6k.records import Task
from ops6k.train import times
from ops6k.train.agent import Agent
from ops6k.train.times import PlanTime, PoisonedTimes

PARAMS = Path(__file__).resolve().parents[1] / "params.yaml"


def write_dataset(data: Path, **splits: Sequence[Task]) -> Path:
    for name, tasks in splits.items():
        store.write_rows(data / "dataset" / "data" / f"{name}.parquet", tasks, Task)
    return data


def replaying(rows: Sequence[PlanTime], folder: Path, *settings: str) -> Params:
    path = store.write_rows(folder / "recorded.parquet", rows, PlanTime)
    fixed = (f"train.replay_times={path}", "train.tasks=20", "train.steps=512")
    return params.load(PARAMS, preset="demo", settings=(*fixed, *settings))


def test_the_stage_leaves_weights_times_curve_comparison_and_card(tmp_path: Path):
    tasks = family_tasks(20)
    table = family_table(tasks)
    data = write_dataset(tmp_path, train=tasks[:14], validation=tasks[14:17], test=tasks[17:])
    report = train.run(replaying(table.rows(), tmp_path), data)
    agent = data / "agent"
    assert {path.name for path in agent.iterdir()} == {
        "model.safetensors", "config.json", "actions.json", "plan_times.parquet", "curve.csv", "results.json", "README.md",
    }  # fmt: skip
    assert times.read(agent / "plan_times.parquet").rows() == table.rows()
    assert (report.taken, report.kept) == (len(table.rows()), sum(row.status == "correct" for row in table.rows()))
    results = json.loads((agent / "results.json").read_text())
    assert (results["train_tasks"], results["held_out"]) == (14, {"tasks": 6, "from": "validation and test splits"})
    assert set(results["one_attempt"]) == {"agent", "always_eager", "always_default", "best_fixed", "random", "oracle"}
    assert results["one_attempt"]["always_default"]["mean_reward"] == 2.0
    curve = list(csv.DictReader((agent / "curve.csv").open()))
    assert [row["step"] for row in curve] == ["256", "512"] and float(curve[-1]["mean_episode_reward"]) > 0


def test_the_card_has_a_licence_in_its_head_and_the_figures_of_results_json(tmp_path: Path):
    tasks = family_tasks(8)
    data = write_dataset(tmp_path, train=tasks[:6], test=tasks[6:])
    train.run(replaying(family_table(tasks).rows(), tmp_path), data)
    _, head, body = (data / "agent" / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(head)["license"] == "apache-2.0"
    reward = json.loads((data / "agent" / "results.json").read_text())["one_attempt"]["agent"]["mean_reward"]
    assert f"| this agent | {reward:.2f} |" in body and "2 tasks judged (validation and test splits)" in body
    assert "mostly chance" in body


def test_the_same_times_and_seed_give_the_same_bytes_and_a_loadable_agent(tmp_path: Path):
    tasks = family_tasks(8)
    written = []
    for place in ("first", "second"):
        data = write_dataset(tmp_path / place, train=tasks[:6], test=tasks[6:])
        train.run(replaying(family_table(tasks).rows(), tmp_path / place), data)
        Agent.from_pretrained(data / "agent")
        written.append(
            {name: (data / "agent" / name).read_bytes() for name in ("model.safetensors", "curve.csv", "results.json")}
        )
    assert written[0] == written[1]


@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize("count", [1, 3])
def test_very_few_tasks_in_any_one_split_are_enough(tmp_path: Path, split: str, count: int):
    tasks = family_tasks(count)
    empty = {name: () for name in ("train", "validation", "test") if name != split}
    data = write_dataset(tmp_path, **{split: tasks}, **empty)
    train.run(replaying(family_table(tasks).rows(), tmp_path, "train.steps=64"), data)
    assert "none held out" in json.loads((data / "agent" / "results.json").read_text())["held_out"]["from"]


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
    train.run(replaying(family_table(tasks).rows(), tmp_path, "train.steps=64"), write_dataset(tmp_path, train=tasks))
    columns = pq.read_table(tmp_path / "agent" / "plan_times.parquet").column_names
    assert {"task_id", "plan", "device", "torch", "triton", "ratio_eager_low", "ratio_compiled_low", "status"} <= set(columns)
