"""PPO learns a rule from a table, repeatably, and the agent survives its files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from train_tasks import FAMILIES, family_table, family_tasks, task

from ops6k.errors import MissingInput
from ops6k.train import ppo
from ops6k.train.agent import Agent, SchemaMismatch
from ops6k.train.compare import compare
from ops6k.train.plans import applicable

STEPS = 3072
TRAIN, HELD_OUT = family_tasks(40), family_tasks(20, first=100)
TABLE = family_table(TRAIN + HELD_OUT)


def weights(seed: int, steps: int = 512) -> dict[str, np.ndarray]:
    model, _ = ppo.train(TRAIN, TABLE, steps, seed)
    return {name: value.numpy() for name, value in model.policy.state_dict().items()}


@pytest.fixture(scope="module")
def trained() -> tuple[Agent, tuple[ppo.CurvePoint, ...]]:
    model, curve = ppo.train(TRAIN, TABLE, STEPS, 0)
    return Agent(model.policy), curve


@pytest.fixture
def saved(trained, tmp_path: Path) -> Path:
    trained[0].save(tmp_path, ppo.LAYERS)
    return tmp_path


def test_on_held_out_tasks_the_agent_beats_the_best_fixed_plan_where_the_best_plan_depends_on_the_task(trained):
    scores = compare(trained[0], TRAIN, HELD_OUT, TABLE, seed=0).one_attempt
    assert scores["oracle"].mean_reward == 3.0
    assert scores["agent"].mean_reward >= scores["best_fixed"].mean_reward + 0.4
    assert scores["agent"].mean_reward > scores["random"].mean_reward


def test_an_untrained_agent_does_not():
    untrained = Agent(ppo.new_model(TRAIN, TABLE, 0).policy)
    scores = compare(untrained, TRAIN, HELD_OUT, TABLE, seed=0).one_attempt
    assert scores["agent"].mean_reward < scores["best_fixed"].mean_reward + 0.4


def test_the_curve_covers_every_step_and_rises(trained):
    curve = trained[1]
    assert [point.step for point in curve] == list(range(256, STEPS + 1, 256))
    assert curve[-1].mean_reward > curve[0].mean_reward + 0.5


def test_same_table_and_seed_give_the_same_weights_and_another_seed_others():
    first, second, other = weights(3), weights(3), weights(4)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not all(np.array_equal(first[name], other[name]) for name in first)


def test_a_saved_agent_chooses_as_before(trained, saved: Path):
    loaded = Agent.from_pretrained(saved)
    choices = [loaded.choose(of).name for of in HELD_OUT]
    assert choices == [trained[0].choose(of).name for of in HELD_OUT]
    assert len(set(choices)) == len(FAMILIES)


def test_the_agent_is_small_and_its_files_hold_no_pickle(trained, saved: Path):
    assert trained[0].parameters < 5_000_000
    assert json.loads((saved / "config.json").read_text())["parameters"] == trained[0].parameters
    assert sorted(path.suffix for path in saved.iterdir()) == [".json", ".json", ".safetensors"]


def test_the_agent_chooses_only_what_applies(trained):
    for of in family_tasks(10, first=500):
        assert trained[0].choose(of) in applicable(of)
    assert trained[0].choose(task(7, "a.label.never.seen")).name in {
        plan.name for plan in applicable(task(7, "a.label.never.seen"))
    }


def test_an_agent_for_other_actions_is_refused_by_name(saved: Path):
    actions = json.loads((saved / "actions.json").read_text())
    actions["actions"][1]["definition"] = "0" * 16
    (saved / "actions.json").write_text(json.dumps(actions))
    with pytest.raises(SchemaMismatch, match=r"other actions .*: default$"):
        Agent.from_pretrained(saved)


def test_an_agent_for_other_features_is_refused(saved: Path):
    config = json.loads((saved / "config.json").read_text())
    config["observation"]["features"].pop()
    (saved / "config.json").write_text(json.dumps(config))
    with pytest.raises(SchemaMismatch, match="other features"):
        Agent.from_pretrained(saved)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "actions.json"])
def test_an_absent_or_broken_file_is_named(saved: Path, tmp_path_factory, name: str):
    broken = tmp_path_factory.mktemp("broken")
    shutil.copytree(saved, broken, dirs_exist_ok=True)
    (broken / name).write_bytes((broken / name).read_bytes()[:40])
    (saved / name).unlink()
    for folder in (saved, broken):
        with pytest.raises(MissingInput, match=name):
            Agent.from_pretrained(folder)
