"""PPO learns a rule from a table, repeatably and after an interruption, and the agent survives its files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer
from train_tasks import FAMILIES, family_sketches, family_table, family_tasks, sketch, task

from ops6k.errors import MissingInput
from ops6k.train import checkpoint, ppo
from ops6k.train.agent import Agent, SchemaMismatch
from ops6k.train.compare import compare, tried
from ops6k.train.known import Known
from ops6k.train.plans import plans_for
from ops6k.train.situations import known, measured_worths, situation, soft
from ops6k.train.source import TableTimes

STEPS = 4 * ppo.ROLLOUT
TRAIN, HELD_OUT = family_tasks(40), family_tasks(20, first=100)
SKETCHES = family_sketches(TRAIN + HELD_OUT)
TABLE = family_table(TRAIN + HELD_OUT)


def trained_with(seed: int, steps: int = ppo.ROLLOUT, work: Path | None = None) -> ppo.Trained:
    return ppo.train(TRAIN[:20], TABLE, SKETCHES, steps, seed, work)


def weights(of: ppo.Trained) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in of.policy.state_dict().items()}


@pytest.fixture(scope="module")
def trained() -> ppo.Trained:
    return ppo.train(TRAIN, TABLE, SKETCHES, STEPS, 0)


@pytest.fixture(scope="module")
def agent(trained: ppo.Trained) -> Agent:
    return Agent(trained.policy, ppo.SIZES)


@pytest.fixture
def saved(agent: Agent, tmp_path: Path) -> Path:
    agent.save(tmp_path)
    return tmp_path


def scores(of: Agent) -> dict:
    everything = Known(TABLE, SKETCHES)
    return compare([tried([of], TRAIN, HELD_OUT, everything, 0)], everything, 0).one_attempt


@pytest.mark.slow
def test_on_held_out_tasks_the_agent_picks_each_ones_own_plan_and_an_untrained_one_does_not(agent: Agent):
    found = scores(agent)
    assert found["oracle"].mean_reward == 3.0
    assert found["agent"].mean_reward >= 2.8 > found["best_fixed"].mean_reward + 0.3
    untrained = Agent(ppo.new_model(TRAIN, TABLE, SKETCHES, 0).policy, ppo.SIZES)
    assert scores(untrained)["agent"].mean_reward < 2.5


def test_the_curve_covers_every_step(trained: ppo.Trained):
    assert [point.step for point in trained.curve] == list(range(ppo.ROLLOUT, STEPS + 1, ppo.ROLLOUT))
    assert trained.curve[-1].mean_reward > 2.5 and trained.regret < 0.2


@pytest.mark.slow
def test_same_table_and_seed_give_the_same_weights_and_another_seed_others():
    first, second, other = (weights(trained_with(seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not all(np.array_equal(first[name], other[name]) for name in first)


@pytest.mark.slow
def test_an_interrupted_training_ends_with_the_weights_of_an_undisturbed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ppo, "CHUNK", 1)
    whole = trained_with(5, 3 * ppo.ROLLOUT)
    steps, path = [], tmp_path / "seed_5.pt"
    write = checkpoint.write

    def killed_after_the_second(*arguments: object) -> None:
        write(*arguments)
        steps.append(arguments[2].num_timesteps)
        if len(steps) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "write", killed_after_the_second)
    with pytest.raises(KeyboardInterrupt):
        trained_with(5, 3 * ppo.ROLLOUT, tmp_path)
    made = trained_with(5, 3 * ppo.ROLLOUT, tmp_path)
    assert steps == [ppo.ROLLOUT, 2 * ppo.ROLLOUT, 3 * ppo.ROLLOUT]  # only what was missing was made
    assert (made.curve, made.regret) == (whole.curve, whole.regret)
    model = ppo.new_model(TRAIN[:20], TABLE, SKETCHES, 5)
    assert checkpoint.read(path, model) is not None and model.num_timesteps == 3 * ppo.ROLLOUT
    assert all(np.array_equal(value, weights(whole)[name]) for name, value in weights(made).items())


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_damaged_checkpoint_is_none(tmp_path: Path, content: bytes | None):
    model, path = ppo.new_model(TRAIN[:5], TABLE, SKETCHES, 0), tmp_path / "seed_0.pt"
    checkpoint.write(path, checkpoint.State(dict(model.policy.state_dict()), 1.0, []), model)
    assert checkpoint.read(path, model) is not None
    path.write_bytes(path.read_bytes()[:5000] if content is None else content)
    assert checkpoint.read(path, model) is None


def test_advantages_are_those_of_the_paper():
    model = ppo.new_model(TRAIN[:5], TABLE, SKETCHES, 0)
    space, actions = model.observation_space, model.action_space
    buffer = MaskableDictRolloutBuffer(3, space, actions, "cpu", gae_lambda=0.95, gamma=ppo.DISCOUNT, n_envs=1)
    rewards, values, starts = [1.0, 0.0, 2.0], [0.5, 0.25, 1.0], [1.0, 0.0, 1.0]
    seen = {name: np.zeros((1, *of.shape), of.dtype) for name, of in space.spaces.items()}
    for reward, value, start in zip(rewards, values, starts, strict=True):
        numbers = (np.array([[0]]), np.array([reward]), np.array([start]), torch.tensor([value]), torch.zeros(1))
        buffer.add(seen, *numbers, action_masks=np.ones((1, actions.n)))
    buffer.compute_returns_and_advantage(torch.tensor([0.8]), np.array([0.0]))
    last = 2.0 + 0.9 * 0.8 - 1.0  # goes on beyond the rollout
    middle = 0.0 - 0.25  # the episode ends here: the third step starts another
    first = 1.0 + 0.9 * 0.25 - 0.5 + 0.9 * 0.95 * middle
    assert buffer.advantages.ravel() == pytest.approx([first, middle, last])


def test_a_soft_target_over_plans_becomes_one_for_each_decision():
    of = task(3, "F.softmax")
    (one,) = known([of], TableTimes(family_table([of])), {of.task_id: sketch(of, "shift_invariance", "cancel_moves")}, measured_worths(TableTimes(family_table([of]))))  # fmt: skip
    made = situation(one, (), 0.15)
    assert made.targets.sum(1) == pytest.approx(np.ones(len(made.targets)))
    assert (made.targets[~made.masks] == 0).all() and (made.regrets >= 0).all() and made.regrets.min() == 0
    assert soft([1.0, 1.0 + 0.15 * np.log(3)], 0.15) == pytest.approx([0.25, 0.75])


def test_a_saved_agent_chooses_as_before(agent: Agent, saved: Path):
    loaded = Agent.from_pretrained(saved)
    choices = [loaded.choose(of, SKETCHES[of.task_id]).name for of in HELD_OUT]
    assert choices == [agent.choose(of, SKETCHES[of.task_id]).name for of in HELD_OUT]
    assert len(set(choices)) == len(FAMILIES)


def test_the_agent_is_small_and_its_files_hold_no_pickle(agent: Agent, saved: Path):
    assert agent.parameters < 5_000_000
    assert json.loads((saved / "config.json").read_text())["parameters"] == agent.parameters
    assert sorted(path.suffix for path in saved.iterdir()) == [".json", ".json", ".safetensors"]


def test_the_agent_chooses_only_what_applies(agent: Agent):
    for of in [*family_tasks(10, first=500), task(7, "a.label.never.seen")]:
        assert agent.choose(of, sketch(of, "fold_scale")) in plans_for(of, ("fold_scale",), 64)


def test_an_agent_for_other_actions_is_refused_by_name(saved: Path):
    actions = json.loads((saved / "actions.json").read_text())
    actions["actions"][-2]["name"] = "warp_drive"
    (saved / "actions.json").write_text(json.dumps(actions))
    with pytest.raises(SchemaMismatch, match=r"other actions .*: cudagraphs, warp_drive$"):
        Agent.from_pretrained(saved)


def test_an_agent_for_other_features_is_refused(saved: Path):
    config = json.loads((saved / "config.json").read_text())
    config["observation"]["features"]["task"].pop()
    (saved / "config.json").write_text(json.dumps(config))
    with pytest.raises(SchemaMismatch, match="other features"):
        Agent.from_pretrained(saved)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "actions.json"])
def test_an_absent_or_broken_file_is_named(saved: Path, tmp_path_factory: pytest.TempPathFactory, name: str):
    broken = tmp_path_factory.mktemp("broken")
    shutil.copytree(saved, broken, dirs_exist_ok=True)
    (broken / name).write_bytes((broken / name).read_bytes()[:40])
    (saved / name).unlink()
    for folder in (saved, broken):
        with pytest.raises(MissingInput, match=name):
            Agent.from_pretrained(folder)


@pytest.mark.parametrize("sizes", [None, [], {"width": 64}, "all"])
def test_sizes_that_are_none_are_refused(saved: Path, sizes: object):
    config = json.loads((saved / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps(config | {"sizes": sizes}))
    with pytest.raises(MissingInput, match="sizes of the network"):
        Agent.from_pretrained(saved)


def test_to_stop_leaves_what_another_attempt_would_add():
    of = task(0, "nn.Conv2d")
    times = TableTimes(family_table([of]))
    (one,) = known([of], times, {of.task_id: sketch(of)}, measured_worths(times))
    worths = measured_worths(times)(of)
    made = situation(one, ("eager",), 0.15)
    assert made.regrets[-1] == pytest.approx(max(worths.values()) - worths["eager"], abs=1e-6) and made.regrets[-1] > 1
    assert len(made.regrets) == len(worths)  # the plans that are left, and to stop
    assert situation(one, (), 0.15).regrets.shape == (len(worths),)  # there is no stopping before the first attempt
