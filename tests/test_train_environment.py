"""The environment: Gymnasium's own checks, masks, and what an episode is paid."""

import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from train_tasks import failed, family_sketches, family_table, family_tasks, plan_time, sketch, task

from ops6k.errors import MissingInput
from ops6k.train import features
from ops6k.train.environment import NUMBER, Choices, PlanEnvironment
from ops6k.train.features import ATTEMPTS, NAMES
from ops6k.train.nodes import group_of
from ops6k.train.plans import ACTIONS, STOP, Plan
from ops6k.train.sketch import MOST_NODES, Node, Sketch
from ops6k.train.source import LiveTimes
from ops6k.train.times import PlanStatus, PlanTime, TimeTable

TASKS = family_tasks(15)
SKETCHES = family_sketches(TASKS)
TABLE = family_table(TASKS)
REWRITTEN = "shift_invariance,cancel_moves/default"


def one_task(*rows: PlanTime) -> PlanEnvironment:
    environment = PlanEnvironment([task(1)], TimeTable(rows), {task(1).task_id: sketch(task(1))})
    environment.reset()
    return environment


def allowed(environment: PlanEnvironment) -> set[str]:
    return {ACTIONS[number] for number in np.flatnonzero(environment.action_masks())}


def attempt(environment: PlanEnvironment, plan: str) -> float:
    """Takes the plan's decisions; returns what they were paid together."""
    return sum(environment.step(np.int64(NUMBER[name]))[1] for name in Plan.named(plan).decisions)


def test_gymnasiums_env_checker_finds_nothing():
    # What it thinks wrong it raises; what it thinks odd it warns of.
    with warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always")
        check_env(PlanEnvironment(TASKS, TABLE, SKETCHES), skip_render_check=True)
    assert [str(warning.message) for warning in odd] == []


def test_the_rewards_of_an_episode_sum_to_the_best_milestone_tried():
    environment, generator = PlanEnvironment(TASKS, TABLE, SKETCHES), np.random.default_rng(0)
    sums, decisions = set(), set()
    for _ in range(300):
        environment.reset(seed=int(generator.integers(10**6)))
        total, steps, ended = 0.0, 0, False
        while not ended:
            action = generator.choice(np.flatnonzero(environment.action_masks()))
            _, reward, ended, _, _ = environment.step(action)
            total, steps = total + reward, steps + (ACTIONS[action] != STOP)
        assert total == max(row.milestone for row in environment.tried)
        assert len(environment.tried) <= ATTEMPTS
        assert steps == sum(len(Plan.named(row.plan).decisions) for row in environment.tried)
        sums.add(total)
        decisions.update(len(Plan.named(row.plan).decisions) for row in environment.tried)
    assert {1.0, 2.0, 3.0} <= sums and {1, 2, 3} <= decisions  # the property was put to the test on every kind of episode


def test_masks_lead_to_measured_untried_plans_and_to_all_of_them():
    environment, generator = PlanEnvironment(TASKS, TABLE, SKETCHES), np.random.default_rng(0)
    reached = set()
    for _ in range(600):
        environment.reset(seed=int(generator.integers(10**6)))
        ended = False
        while not ended:
            _, _, ended, _, info = environment.step(generator.choice(np.flatnonzero(environment.action_masks())))
            assert not info["masked"]
        tried = [row.plan for row in environment.tried]
        assert len(set(tried)) == len(tried) and set(tried) <= TABLE.attempts(environment.task.task_id).keys()
        reached.update((environment.task.ops[0], plan) for plan in tried)
    assert reached == {(of.ops[0], plan) for of in TASKS for plan in TABLE.attempts(of.task_id)}


def test_wrong_then_correct_is_paid_minus_one_then_the_difference():
    environment = one_task(failed(task(1), "cudagraphs", PlanStatus.WRONG), plan_time(task(1), "default", 1.2, 1.0))
    assert attempt(environment, "cudagraphs") == -1.0
    assert attempt(environment, "default") == 3.0  # from -1 to 2


def test_only_the_backend_of_a_plan_is_paid_and_uses_an_attempt():
    environment = one_task(plan_time(task(1), REWRITTEN, 1.5, 1.2), plan_time(task(1), "eager"))
    seen, reward, ended, _, _ = environment.step(np.int64(NUMBER["shift_invariance"]))
    assert (reward, ended, environment.used) == (0.0, False, 0)
    assert seen["decided"][features.BEFORE.index("shift_invariance")] == 1
    assert allowed(environment) == {"cancel_moves"}
    environment.step(np.int64(NUMBER["cancel_moves"]))
    seen, reward, *_ = environment.step(np.int64(NUMBER["default"]))
    assert (reward, environment.used, environment.tried[0].plan) == (3.0, 1, REWRITTEN)
    assert not seen["decided"].any()


def test_rewrites_are_decided_in_the_tables_order_alone():
    both = Choices.of([REWRITTEN, "cancel_moves/default"])
    assert set(both.below[()]) == {"shift_invariance", "cancel_moves"}
    assert set(both.below[("cancel_moves",)]) == {"default"}


def test_an_unmeasured_plan_is_masked_and_pays_nothing():
    environment = one_task(plan_time(task(1), "eager"), plan_time(task(1), "default", 1.5, 1.0))
    assert allowed(environment) == {"eager", "default"}
    _, reward, _, _, info = environment.step(np.int64(NUMBER["cudagraphs"]))
    assert (reward, info["masked"], environment.tried) == (0.0, True, [])


def test_a_plan_that_did_not_apply_is_masked():
    environment = one_task(plan_time(task(1), "eager"), failed(task(1), "channels_last/default", PlanStatus.INAPPLICABLE))
    assert allowed(environment) == {"eager"}


def test_stopping_is_allowed_only_between_plans_after_an_attempt_and_no_plan_is_tried_twice():
    environment = one_task(*(plan_time(task(1), name) for name in ("eager", "default", REWRITTEN)))
    assert STOP not in allowed(environment)
    attempt(environment, "eager")
    assert allowed(environment) == {"default", "shift_invariance", STOP}
    environment.step(np.int64(NUMBER["shift_invariance"]))
    assert STOP not in allowed(environment)
    environment.step(np.int64(NUMBER["cancel_moves"]))
    environment.step(np.int64(NUMBER["default"]))
    _, reward, ended, _, _ = environment.step(np.int64(NUMBER[STOP]))
    assert ended and reward == 0.0


def test_an_attempt_shows_in_the_next_observation():
    environment = one_task(plan_time(task(1), "eager"), plan_time(task(1), "default", 2.0, 1.5))
    before, _ = environment.reset()
    after, *_ = environment.step(np.int64(NUMBER["default"]))
    changed = {NAMES["attempts"][i] for i in np.flatnonzero(before["attempts"] != after["attempts"])}
    about = {f"default.{what}" for what in ("tried", "milestone", "ratio_compiled")}
    assert changed == about | {"attempts_left", "best", "best_ratio_eager", "best_ratio_compiled"}
    assert after["attempts"][NAMES["attempts"].index("default.ratio_compiled")] == pytest.approx(2 * np.log2(1.5))
    assert all(np.array_equal(before[name], after[name]) for name in ("nodes", "edges", "node_mask", "task"))


def test_a_curriculum_draws_from_the_first_tasks_alone():
    environment = PlanEnvironment(TASKS, TABLE, SKETCHES)
    environment.open(3)
    drawn = {environment.reset(seed=seed)[1]["task_id"] for seed in range(60)}
    assert drawn == {of.task_id for of in TASKS[:3]}


def test_a_device_is_asked_once_a_plan_and_offers_what_applies():
    (of,) = family_tasks(1)
    asked: list[str] = []

    def measure(task: object, plan: Plan) -> PlanTime:
        asked.append(plan.name)
        return plan_time(task, plan.name, 1.5, 1.2)

    environment = PlanEnvironment([of], LiveTimes(measure, {of.task_id: sketch(of)}, 5), {of.task_id: sketch(of)})
    assert allowed(environment) >= {"eager", "default"}
    for _ in range(2):
        environment.reset()
        assert attempt(environment, "default") == 3.0
    assert asked == ["default"]


def test_tasks_without_a_measured_plan_are_left_out_and_none_at_all_is_an_error():
    other = {task(999).task_id: sketch(task(999))}
    environment = PlanEnvironment([*TASKS, task(999)], TABLE, SKETCHES | other)
    assert [of.task_id for of in environment.tasks] == [of.task_id for of in TASKS]
    with pytest.raises(MissingInput, match="none of 1 tasks"):
        PlanEnvironment([task(999)], TABLE, other)


def test_the_graph_has_a_row_a_node_and_an_edge_a_reader():
    nodes = (
        Node("input", "float32", (8, 8), 0, 0, ()),
        Node("mm", "float32", (8, 8), 768, 1024, (0, 0)),
        Node("add", "float32", (8, 8), 768, 0, (0, 1)),
    )
    seen = features.fixed(task(1), Sketch(task(1).task_id, nodes, (), False))
    assert seen["node_mask"].sum() == 3 and not seen["nodes"][3:].any()
    assert [tuple(edge) for edge in np.argwhere(seen["edges"])] == [(1, 0), (2, 0), (2, 1)]
    assert [int(row[: len(features.GROUP_NAMES)].argmax()) for row in seen["nodes"][:3]] == [
        group_of(node.operator) for node in nodes
    ]
    assert seen["nodes"][1, NAMES["nodes"].index("share_of_bytes")] == 0.5


def test_every_shape_of_task_stays_within_the_limit():
    huge = Node("convolution", "float64", (2**40,) * 7, 2**62, 2**62, ())
    for nodes in ((), (huge,) * MOST_NODES):
        seen = features.observation(task(1), Sketch("", nodes, (), True), (), 0, ())
        assert {name: array.shape for name, array in seen.items()} == features.SHAPES
        assert all(np.isfinite(array).all() and np.abs(array).max() <= features.LIMIT for array in seen.values())
