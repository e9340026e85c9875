"""The comparison against numbers worked out by hand: scores, shares of the gap, every rival."""

import dataclasses
import math

import numpy as np
import pytest
from train_tasks import FAMILIES, failed, family_sketches, family_table, family_tasks, plan_time, sketch, task

from ops6k.errors import MissingInput
from ops6k.train import fixed, rows, trees
from ops6k.train.bootstrap import NO_GAP, share_closed, weights
from ops6k.train.compare import STRATEGIES, agent_orders, compare, joined, tried
from ops6k.train.known import Known
from ops6k.train.plans import ACTIONS, Plan
from ops6k.train.scores import by_speed, graded, score, values
from ops6k.train.times import TimeTable

RULE = ("tree", "forest")


class First:
    """A policy that tries the allowed plans in the order of the names given, then stops."""

    def __init__(self, *names: str) -> None:
        self.wanted = [ACTIONS.index(name) for name in names]

    def act(self, seen: dict[str, np.ndarray], mask: np.ndarray) -> int:
        return next((number for number in self.wanted if mask[number]), len(ACTIONS) - 1)


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def known(tasks: list, table: TimeTable | None = None) -> Known:
    return Known(table or family_table(tasks), family_sketches(tasks))


def test_a_score_counts_milestones_and_takes_the_geometric_mean_of_the_fastest_correct_attempts():
    eager = [plan_time(task(1), "eager", 1.0, 0.5), plan_time(task(2), "eager", 1.0, 0.8)]
    orders = [
        (plan_time(task(1), "default", 2.0, 1.0), plan_time(task(1), "cudagraphs", 4.0, 2.0)),  # 2, then 3
        (failed(task(2), "default"), plan_time(task(2), "cudagraphs", 0.5, 0.4)),  # -1, then 1
    ]
    one, two = (score(values([orders], eager, attempts)) for attempts in (1, 2))
    assert (one.mean_reward, one.pass_rate, one.faster_than_eager, one.faster_than_compile) == (0.5, 0.5, 0.5, 0.0)
    assert (two.mean_reward, two.pass_rate, two.faster_than_eager, two.faster_than_compile) == (2.0, 1.0, 0.5, 0.5)
    assert one.speedup_over_eager == pytest.approx(math.sqrt(2.0 * 1.0))  # what failed leaves eager
    assert one.speedup_over_compile == pytest.approx(math.sqrt(1.0 * 0.8))
    assert two.speedup_over_eager == pytest.approx(math.sqrt(4.0 * 0.5))
    assert two.speedup_over_compile == pytest.approx(math.sqrt(2.0 * 0.4))


def test_where_default_compile_does_not_run_eager_alone_is_what_to_beat():
    none: dict = {f"ratio_compiled{end}": None for end in ("", "_low", "_high")}
    eager, other = (plan_time(task(1), name, ratio, 1.0) for name, ratio in (("eager", 1.0), ("channels_last/eager", 1.5)))
    eager, other = (dataclasses.replace(row, **none) for row in (eager, other))
    order = (other,)
    found = values([[order]], [eager], 1)
    assert math.isnan(found.log_compiled[0, 0]) and found.log_better[0, 0] == pytest.approx(math.log(1.5))
    assert score(found).speedup_over_compile is None


def test_the_score_of_several_runs_is_their_mean():
    eager = [plan_time(task(1), "eager")]
    runs = [[(plan_time(task(1), "cudagraphs", 2.0, 2.0),)], [(failed(task(1), "cudagraphs"),)]]
    assert score(values(runs, eager, 1)).mean_reward == 1.0


def test_the_share_of_the_gap_is_zero_for_the_fixed_plan_one_for_the_oracle_and_none_without_a_gap():
    low, high, names = np.ones(8), np.full(8, 3.0), [f"c{n}" for n in range(8)]
    assert share_closed(low[None], low, high, names, draws()).share == 0.0
    assert share_closed(high[None], low, high, names, draws()) == share_closed(high[None], low, high, names, draws(1))
    half = np.array([[3.0] * 4 + [1.0] * 4])
    between = share_closed(half, low, high, names, draws())
    # Binomial(8, 1/2): 1 or fewer of 8 has 3.5 %, 0 has 0.4 %, so that the 2.5 % point is 1 of 8.
    assert (between.low, between.share, between.high) == (0.125, 0.5, 0.875)
    assert share_closed(high[None], high, high, names, draws()) == NO_GAP


def test_the_interval_knows_that_tasks_of_one_cluster_are_one_draw():
    counted = weights(["a", "a", "b"], draws())
    assert (counted[:, 0] == counted[:, 1]).all() and (counted[:, 0] + counted[:, 2] == 2).all()
    # Two clusters: both or either alone, 1/2, 1/4 and 1/4.
    assert (counted[:, 0] == 1).mean() == pytest.approx(0.5, abs=0.03)


def test_the_interval_knows_that_seeds_differ():
    low, high, names = np.zeros(4), np.ones(4), ["a", "b", "c", "d"]
    one = share_closed(np.full((1, 4), 0.5), low, high, names, draws())
    two = share_closed(np.array([[0.0] * 4, [1.0] * 4]), low, high, names, draws())
    assert (one.low, one.high) == (0.5, 0.5) and (two.low, two.share, two.high) == (0.0, 0.5, 1.0)


def test_the_best_fixed_order_is_greedy_on_the_training_tasks():
    a, b, c = (task(number) for number in range(3))
    wins = {"cudagraphs": (a, b), "small_fusions": (b,), "loop_order": (c,)}
    rows = [plan_time(of, "default", 1.0, 1.0) for of in (a, b, c)]
    rows += [plan_time(of, name, 1.5, 1.5 if of in won else 1.0) for name, won in wins.items() for of in (a, b, c)]
    order = fixed.fixed_order([a, b, c], TimeTable(rows), family_sketches([a, b, c]))
    assert [name for name in order if "every" not in name][:2] == ["cudagraphs", "loop_order"]


def test_a_fixed_plan_that_was_not_measured_gives_way_to_the_next_and_to_default_and_eager_at_the_end():
    of = task(1)
    measured = {name: plan_time(of, name) for name in ("eager", "default", "loop_order")}
    tries = fixed.follow(("cudagraphs", "loop_order", "small_fusions"), measured)
    assert [row.plan for row in tries] == ["loop_order", "default", "eager"]


def test_every_rewrite_that_applies_is_one_rule_whatever_the_rewrites_are():
    first, second, third = (task(number) for number in range(3))
    own = {first: ("fold_scale",), second: ("merge_linear", "cancel_moves"), third: ()}
    seen = {of.task_id: sketch(of, *rewrites) for of, rewrites in own.items()}
    rows = [plan_time(of, "eager", 1.0, 0.8) for of in own] + [plan_time(third, "default", 1.2, 1.0)]
    rows += [plan_time(first, "fold_scale/default", 2.0, 2.0), plan_time(second, "merge_linear,cancel_moves/default", 2.0, 2.0)]
    table = TimeTable(rows)
    assert fixed.fixed_order(list(own), table, seen)[0] == "every_rewrite/default"
    tries = [fixed.follow(("every_rewrite/default",), fixed.rules(table.attempts(of.task_id), seen[of.task_id])) for of in own]
    assert [order[0].plan for order in tries] == ["fold_scale/default", "merge_linear,cancel_moves/default", "default"]


@pytest.mark.parametrize("name", RULE)
def test_tree_and_forest_learn_a_rule_of_the_tasks_features_and_rank_measured_plans_by_it(name: str):
    learn, judged = family_tasks(40), family_tasks(10, first=100)
    together = known(learn + judged)
    orders = trees.tree_orders(getattr(trees, name), learn, judged, (together.table, together.sketches), 0)
    assert [order[0].plan for order in orders] == [FAMILIES[of.ops[0]][1] for of in judged]
    assert orders == trees.tree_orders(getattr(trees, name), learn, judged, (together.table, together.sketches), 0)


def test_a_graded_milestone_keeps_the_order_of_milestones_and_of_speed_ups_within_one():
    of = task(1)
    ranked = [
        failed(of, "default"),
        *(plan_time(of, "default", 1.02, ratio) for ratio in (0.2, 1.0)),
        plan_time(of, "default", 2.0, 1.0),
    ]
    ranked += [plan_time(of, "default", ratio, ratio) for ratio in (1.2, 5.0)]
    found = [graded(row) for row in ranked]
    assert found == sorted(set(found)) and max(found) <= 3.5


def test_every_rival_gets_what_its_name_says_on_a_table_made_by_hand():
    learn, judged = family_tasks(10), family_tasks(10, first=50)
    together = known(learn + judged)
    found = compare([tried([First("cudagraphs", "default")], learn, judged, together, 0)], together, 0)
    one, four = found.one_attempt, found.four_attempts
    assert set(one) == set(STRATEGIES) and (found.tasks, found.clusters, found.seeds) == (10, 10, 1)
    assert one["always_eager"].mean_reward == four["always_eager"].mean_reward == 1.0
    assert one["always_default"].mean_reward == four["always_default"].mean_reward == 2.0
    assert one["always_max_autotune"].mean_reward == -1.0 and one["always_max_autotune"].pass_rate == 0.0
    assert one["oracle"].mean_reward == 3.0 and one["oracle"].speedup_over_compile == pytest.approx(1.3)
    assert one["agent"].mean_reward == pytest.approx((2 * 3 + 8 * 2) / 10)  # cudagraphs is the plan of a fifth
    assert one["best_fixed"].mean_reward == pytest.approx(one["agent"].mean_reward)
    assert found.gap_closed["agent"].milestone.share == pytest.approx(0.0)
    for name in STRATEGIES:
        assert one[name].mean_reward <= four[name].mean_reward <= one["oracle"].mean_reward


def test_random_attempts_score_the_mean_of_what_is_there():
    of = task(1)
    rows = [plan_time(of, "eager", 1.0, 0.8), plan_time(of, "default", 1.2, 1.0), plan_time(of, "cudagraphs", 2.0, 2.0)]
    together = Known(TimeTable(rows), family_sketches([of]))
    found = compare([tried([First("default")], [of], [of], together, 0)], together, 0)
    assert found.one_attempt["random"].mean_reward == pytest.approx((1 + 2 + 3) / 3, abs=0.3)
    assert found.four_attempts["random"].mean_reward == 3.0


def test_splits_are_judged_together_with_each_tasks_own_agent():
    tasks = family_tasks(20)
    together = known(tasks)
    always, never = First("default"), First("eager")
    parts = [
        tried([always, never], tasks[10:], tasks[:10], together, 0),
        tried([never, never], tasks[:10], tasks[10:], together, 0),
    ]
    whole = joined(parts)
    assert [[order[0].plan for order in run] for run in whole.runs["agent"]] == [
        ["default"] * 10 + ["eager"] * 10,
        ["eager"] * 20,
    ]
    found = compare(parts, together, 0)
    assert (found.tasks, found.seeds, found.one_attempt["agent"].mean_reward) == (20, 2, 1.25)


def test_the_agents_order_is_what_its_policy_tried():
    tasks = family_tasks(5)
    orders = agent_orders(First("default", "eager"), tasks, known(tasks))
    assert [[row.plan for row in order] for order in orders] == [["default", "eager"]] * 5


def test_a_task_without_eager_is_not_judged_and_none_at_all_is_an_error():
    tasks = family_tasks(3)
    rows = [row for row in family_table(tasks).rows() if row.task_id != tasks[0].task_id or row.plan != "eager"]
    together = known(tasks, TimeTable(rows))
    assert tried([First("default")], tasks[1:], tasks, together, 0).tasks == tuple(tasks[1:])
    with pytest.raises(MissingInput, match="eager was measured for none of 1 tasks"):
        tried([First("default")], tasks[1:], tasks[:1], together, 0)


def test_the_oracle_of_speed_is_another_one_than_that_of_milestones():
    of = task(1)
    noisy = plan_time(of, "cudagraphs", 1.5, 1.5, ratio_compiled_low=0.9)  # faster, but not surely
    sure = plan_time(of, "loop_order", 1.2, 1.2)
    assert (noisy.milestone, sure.milestone) == (2, 3)
    assert max((noisy, sure), key=by_speed) is noisy and Plan.named(sure.plan).backend == "loop_order"


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


def test_folds_judge_every_task_once_and_never_cut_a_cluster():
    tasks = family_tasks(11)
    tasks = [of if number else task(0, code="a twin") for number, of in enumerate(tasks)] + [tasks[0]]  # two of cluster c0
    parts = rows.folds(tasks, 3)
    assert sorted(of.task_id for part in parts for of in part.held_out) == sorted(of.task_id for of in tasks)
    assert [len(part.held_out) for part in parts] == [4, 4, 4]
    for part in parts:
        assert not {of.cluster for of in part.train} & {of.cluster for of in part.held_out}
        assert len(part.train) + len(part.held_out) == 12
    with pytest.raises(MissingInput, match="2 clusters"):
        rows.folds(tasks[:2], 3)
