"""Scores computed by hand, and which rows are held out."""

import math

import numpy as np
import pytest
from train_tasks import failed, family_table, family_tasks, plan_time, task

from ops6k.errors import MissingInput
from ops6k.train import rows
from ops6k.train.compare import agent_orders, compare, fixed_order, gap_closed, score
from ops6k.train.plans import PLANS
from ops6k.train.times import TimeTable

NUMBER = {plan.name: number for number, plan in enumerate(PLANS)}


class First:
    """A policy that tries the allowed plans in the order of the names given, then stops."""

    def __init__(self, *names: str) -> None:
        self.wanted = [NUMBER[name] for name in names]

    def act(self, seen: np.ndarray, mask: np.ndarray) -> int:
        return next((number for number in self.wanted if mask[number]), len(PLANS))


def test_a_score_counts_milestones_and_takes_the_geometric_mean_of_the_best_ratios():
    orders = [
        (plan_time(task(1), "default", 2.0, 1.0), plan_time(task(1), "cudagraphs", 4.0, 2.0)),  # 2, then 3
        (failed(task(2), "default"), plan_time(task(2), "cudagraphs", 0.5, 0.4)),  # -1, then 1
    ]
    one, two = score(orders, 1), score(orders, 2)
    assert (one.mean_reward, one.pass_rate, one.faster_than_eager, one.faster_than_compile) == (0.5, 0.5, 0.5, 0.0)
    assert (two.mean_reward, two.pass_rate, two.faster_than_eager, two.faster_than_compile) == (2.0, 1.0, 0.5, 0.5)
    assert one.speedup_over_eager == pytest.approx(math.sqrt(2.0 * 1.0))  # what failed leaves eager
    assert two.speedup_over_eager == pytest.approx(math.sqrt(4.0 * 0.5))


def test_the_best_fixed_plan_is_the_best_on_the_training_tasks():
    tasks = [task(number, "nn.Conv2d") for number in range(3)]
    assert fixed_order(tasks, family_table(tasks))[0] == "no_layout_optimization"


def test_a_fixed_plan_that_does_not_apply_counts_as_default_compile():
    train, other = [task(number, "nn.Conv2d") for number in range(3)], [task(number) for number in range(10, 13)]
    found = compare(First("default"), train, other, family_table(train + other), seed=0)
    assert found.best_fixed_plan == "no_layout_optimization"
    assert found.one_attempt["best_fixed"] == found.one_attempt["always_default"]
    assert found.one_attempt["oracle"].mean_reward == 3.0


def test_no_strategy_beats_the_oracle_and_more_attempts_never_hurt():
    tasks = family_tasks(20)
    found = compare(First("cudagraphs", "max_autotune_no_cudagraphs"), tasks, tasks, family_table(tasks), seed=0)
    for name in found.one_attempt:
        assert (
            found.one_attempt[name].mean_reward
            <= found.four_attempts[name].mean_reward
            <= found.one_attempt["oracle"].mean_reward
        )
    assert found.one_attempt["always_eager"].mean_reward == 1.0


def test_the_agents_order_is_what_its_policy_tried():
    tasks = family_tasks(5)
    orders = agent_orders(First("default", "eager"), tasks, family_table(tasks))
    assert [[row.plan for row in order] for order in orders] == [["default", "eager"]] * 5


def test_the_share_of_the_gap_is_zero_for_the_fixed_plan_one_for_the_oracle_and_none_without_a_gap():
    slow = [(plan_time(task(n), "default"),) for n in range(8)]
    fast = [(plan_time(task(n), "cudagraphs", 2.0, 2.0),) for n in range(8)]
    half = [*fast[:4], *slow[4:]]
    generator = np.random.default_rng(0)
    assert gap_closed(slow, slow, fast, generator).share == 0.0
    assert gap_closed(fast, slow, fast, generator).share == 1.0
    between = gap_closed(half, slow, fast, generator)
    assert between.low < between.share == 0.5 < between.high
    assert gap_closed(fast, fast, fast, generator).share is None


def test_selection_keeps_the_counts_and_does_not_depend_on_the_order_of_rows():
    train, held_out = family_tasks(30), family_tasks(10, first=50)
    picked = rows.select(train, held_out, 20)
    assert (len(picked.train), len(picked.held_out)) == (14, 6)
    again = rows.select(train[::-1], held_out[::-1], 20)
    assert picked == again
    assert len(rows.select(train[:2], held_out[:1], 20).tasks) == 3
    assert len(rows.select(train, (), 20).train) == len(rows.select((), train, 20).held_out) == 20


def test_without_held_out_rows_whole_clusters_are_left_out():
    tasks = family_tasks(12)
    table = family_table(tasks)
    split = rows.measured(rows.Rows(tuple(tasks), (), "none"), table)
    assert split.train and split.held_out and "by cluster" in split.how
    assert not {of.cluster for of in split.train} & {of.cluster for of in split.held_out}
    assert {of.task_id for of in split.tasks} == {of.task_id for of in tasks}


def test_too_few_tasks_to_split_are_said_to_be_judged_on_themselves():
    tasks = tuple(family_tasks(2))
    split = rows.measured(rows.Rows(tasks, (), "none"), family_table(list(tasks)))
    assert split.train == split.held_out == tasks and "none held out" in split.how


def test_rows_without_times_do_not_count():
    tasks = family_tasks(6)
    split = rows.measured(rows.Rows(tuple(tasks[:4]), tuple(tasks[4:]), "test split"), family_table(tasks[2:5]))
    assert (split.train, split.held_out) == (tuple(tasks[2:4]), (tasks[4],))
    with pytest.raises(MissingInput, match="none of the 6"):
        rows.measured(rows.Rows(tuple(tasks), (), "none"), TimeTable([]))
