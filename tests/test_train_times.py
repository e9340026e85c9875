"""Milestones, the table of times, and rows that cannot be true."""

import dataclasses
import math

import pytest
from train_tasks import failed, family_table, family_tasks, plan_time, task

from ops6k import store
from ops6k.errors import MissingInput
from ops6k.train import times
from ops6k.train.times import PlanStatus, PlanTime, PoisonedTimes, TimeTable

TASK = task(1)


def measured(eager: tuple[float, float, float], compiled: tuple[float, float, float] | tuple[None, None, None]) -> PlanTime:
    names = [f"ratio_{against}{end}" for against in ("eager", "compiled") for end in ("_low", "", "_high")]
    return dataclasses.replace(plan_time(TASK, "cudagraphs"), **dict(zip(names, (*eager, *compiled), strict=True)))


@pytest.mark.parametrize(
    ("row", "milestone"),
    [
        (failed(TASK, "cudagraphs"), -1),
        (failed(TASK, "cudagraphs", PlanStatus.WRONG), -1),
        (measured((0.5, 0.6, 0.7), (0.5, 0.6, 0.7)), 1),
        (measured((1.04, 1.4, 1.8), (1.1, 1.2, 1.3)), 1),  # the median clears 5 %, the lower bound does not
        (measured((1.05, 1.1, 1.2), (1.1, 1.2, 1.3)), 1),  # more than 5 %, not 5 %
        (measured((1.06, 1.1, 1.2), (1.04, 1.2, 1.3)), 2),
        (measured((1.06, 1.1, 1.2), (None, None, None)), 2),
        (measured((1.06, 1.1, 1.2), (1.06, 1.2, 1.3)), 3),
    ],
)
def test_a_milestone_is_paid_only_if_the_lower_bound_clears_five_percent(row: PlanTime, milestone: int):
    assert row.milestone == milestone


@pytest.mark.parametrize(
    "poison",
    [
        {"ms": math.nan},
        {"ms": -1.0},
        {"ms": 0.0},
        {"ms": None},
        {"ratio_eager": math.inf},
        {"ratio_eager_low": -0.5},
        {"ratio_compiled_high": math.nan},
        {"ratio_eager_low": 2.0},  # above the middle
    ],
)
def test_a_row_that_cannot_be_true_is_refused_by_task_and_plan(poison: dict):
    good = plan_time(TASK, "cudagraphs")
    assert TimeTable([good]).attempts(TASK.task_id) == {"cudagraphs": good}
    with pytest.raises(PoisonedTimes, match=f"{TASK.task_id}.*cudagraphs"):
        TimeTable([dataclasses.replace(good, **poison)])


def test_two_rows_of_one_task_and_plan_are_refused():
    with pytest.raises(PoisonedTimes, match="two rows"):
        TimeTable([plan_time(TASK, "default"), plan_time(TASK, "default", 1.1)])


def test_a_table_file_comes_back_as_written_and_a_poisoned_one_is_named(tmp_path):
    rows = family_table(family_tasks(3)).rows()
    path = store.write_rows(tmp_path / "times.parquet", rows, PlanTime)
    assert times.read(path).rows() == rows
    store.write_rows(path, [*rows, dataclasses.replace(plan_time(TASK, "default"), ms=-3.0)], PlanTime)
    with pytest.raises(PoisonedTimes, match=r"times\.parquet.*-3\.0"):
        times.read(path)
    with pytest.raises(MissingInput, match="no such file"):
        times.read(tmp_path / "absent.parquet")


def test_what_was_measured_under_another_definition_counts_as_not_measured():
    stale = dataclasses.replace(plan_time(TASK, "default"), definition="0" * 16)
    assert TimeTable([stale]).of(TASK.task_id) == {}
    assert TimeTable([stale, plan_time(TASK, "eager")]).of(TASK.task_id).keys() == {"eager"}


def test_what_did_not_apply_or_did_not_finish_is_known_but_no_attempt():
    rows = [failed(TASK, "cudagraphs", PlanStatus.INAPPLICABLE), failed(TASK, "autotune_pointwise", PlanStatus.UNFINISHED)]
    table = TimeTable([*rows, plan_time(TASK, "eager")])
    assert len(table.of(TASK.task_id)) == 3
    assert table.attempts(TASK.task_id).keys() == {"eager"}
