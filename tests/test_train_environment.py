"""The environment: Gymnasium's own checks, masks, and what an episode is paid."""

import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from train_tasks import failed, family_table, family_tasks, plan_time, task

from ops6k.errors import MissingInput
from ops6k.train.environment import STOP, PlanEnvironment
from ops6k.train.features import ATTEMPTS, NAMES
from ops6k.train.plans import PLANS
from ops6k.train.times import PlanStatus, TimeTable

NUMBER = {plan.name: number for number, plan in enumerate(PLANS)}
TASKS = family_tasks(15)
TABLE = family_table(TASKS)


def one_task(*rows: object) -> PlanEnvironment:
    environment = PlanEnvironment([task(1)], TimeTable(rows))
    environment.reset()
    return environment


def test_gymnasiums_env_checker_finds_nothing():
    # What it thinks wrong it raises; what it thinks odd it warns of.
    with warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always")
        check_env(PlanEnvironment(TASKS, TABLE), skip_render_check=True)
    assert [str(warning.message) for warning in odd] == []


def test_the_rewards_of_an_episode_sum_to_the_best_milestone_tried():
    environment, generator = PlanEnvironment(TASKS, TABLE), np.random.default_rng(0)
    sums = set()
    for _ in range(300):
        environment.reset(seed=int(generator.integers(10**6)))
        total, milestones, ended = 0.0, [], False
        while not ended:
            action = generator.choice(np.flatnonzero(environment.action_masks()))
            _, reward, ended, _, info = environment.step(action)
            total += reward
            if action != STOP:
                milestones.append(TABLE.of(info["task_id"])[PLANS[action].name].milestone)
        assert total == max(milestones)
        assert len(milestones) <= ATTEMPTS
        sums.add(total)
    assert {1.0, 2.0, 3.0} <= sums  # the property was put to the test on every kind of episode


def test_wrong_then_correct_is_paid_minus_one_then_the_difference():
    environment = one_task(failed(task(1), "cudagraphs", PlanStatus.WRONG), plan_time(task(1), "default", 1.2, 1.0))
    assert environment.step(np.int64(NUMBER["cudagraphs"]))[1] == -1.0
    assert environment.step(np.int64(NUMBER["default"]))[1] == 3.0  # from -1 to 2


def test_an_unmeasured_plan_is_masked_and_pays_nothing():
    environment = one_task(plan_time(task(1), "eager"), plan_time(task(1), "default", 1.5, 1.0))
    allowed = {PLANS[number].name for number in np.flatnonzero(environment.action_masks())}
    assert allowed == {"eager", "default"}
    _, reward, _, _, info = environment.step(np.int64(NUMBER["cudagraphs"]))
    assert (reward, info["masked"], environment.tried) == (0.0, True, [])


def test_a_plan_that_did_not_apply_is_masked():
    environment = one_task(plan_time(task(1), "eager"), failed(task(1), "channels_last", PlanStatus.INAPPLICABLE))
    assert not environment.action_masks()[NUMBER["channels_last"]]


def test_stopping_is_allowed_only_after_an_attempt_and_no_plan_is_tried_twice():
    environment = one_task(plan_time(task(1), "eager"), plan_time(task(1), "default"))
    assert not environment.action_masks()[STOP]
    environment.step(np.int64(NUMBER["eager"]))
    assert environment.action_masks()[STOP] and not environment.action_masks()[NUMBER["eager"]]
    _, reward, ended, _, _ = environment.step(np.int64(STOP))
    assert ended and reward == 0.0


def test_an_attempt_shows_in_the_next_observation():
    environment = one_task(plan_time(task(1), "eager"), plan_time(task(1), "default", 2.0, 1.0))
    before, _ = environment.reset()
    after, *_ = environment.step(np.int64(NUMBER["default"]))
    changed = {NAMES[i] for i in np.flatnonzero(before != after)}
    assert changed == {"default.tried", "default.milestone", "default.ratio_eager", "attempts_left", "best"}
    assert after[NAMES.index("default.ratio_eager")] == pytest.approx(2 * np.log2(2.0))


def test_tasks_without_a_measured_plan_are_left_out_and_none_at_all_is_an_error():
    environment = PlanEnvironment([*TASKS, task(999)], TABLE)
    assert [of.task_id for of in environment.tasks] == [of.task_id for of in TASKS]
    with pytest.raises(MissingInput, match="none of 1 tasks"):
        PlanEnvironment([task(999)], TABLE)
