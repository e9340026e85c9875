"""Rivals that ask nothing of a task: one order of plans for all, chosen on the training tasks. Standard library and numpy only.

A set of rewrites names other passes for every task, so "every rewrite that applies" is a plan of its own here: without it a
fixed rule would be weaker than what a person would write down.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ops6k.records import Task
from ops6k.train.plans import Plan
from ops6k.train.scores import Order, by_milestone
from ops6k.train.sketch import Sketch
from ops6k.train.times import PlanTime, TimeTable

EVERY = "every_rewrite"
LAST = ("default", "eager")
"""What a task gets for which nothing of an order was measured."""

Worth = Callable[[PlanTime], tuple[float, float]]


def rules(rows: Mapping[str, PlanTime], sketch: Sketch) -> dict[str, PlanTime]:
    """A task's attempts by rule: each plan's name, and EVERY with a plan's rest where the plan does every rewrite that applies."""
    found = dict(rows)
    for name, row in rows.items():
        plan = Plan.named(name)
        if plan.rewrites == sketch.rewrites:
            found[f"{EVERY}/{replace(plan, rewrites=()).name}"] = row
    return found


def follow(order: Iterable[str], found: Mapping[str, PlanTime]) -> Order:
    """What an order of rules tries on a task: those that were measured, none twice, default and eager at the end."""
    rows = {found[name].plan: found[name] for name in (*order, *LAST) if name in found}
    return tuple(rows.values())


def fixed_order(
    train: Sequence[Task], table: TimeTable, sketches: Mapping[str, Sketch], worth: Worth = by_milestone
) -> tuple[str, ...]:
    """Every rule, greedily: first the one that is best over the training tasks, then what adds most to those before.

    Where a rule was not measured it counts as default compile, or eager. Among equals the one that was measured most, then a plan by its own name.
    """
    tasks = [rules(table.attempts(task.task_id), sketches[task.task_id]) for task in train]
    tasks = [found for found in tasks if any(name in found for name in LAST)]
    names = sorted({name for found in tasks for name in found})
    if not names:
        return LAST
    stand_ins = [next(found[name] for name in LAST if name in found) for found in tasks]
    grid = np.array([[worth(found.get(name, left)) for found, left in zip(tasks, stand_ins, strict=True)] for name in names])
    # A failure has no speed-up: as bad as half as fast.
    grid[:, :, 1] = np.maximum(grid[:, :, 1], -0.7)
    measured = [(sum(name in found for found in tasks), not name.startswith(EVERY)) for name in names]
    return tuple(names[i] for i in _greedy(grid, measured))


def _greedy(grid: np.ndarray, measured: Sequence[tuple[int, bool]]) -> list[int]:
    """Rows in the order in which each adds most. grid: (rules, tasks, 2), the second value breaks ties of the first's mean."""
    best, left, chosen = np.full(grid.shape[1:], -np.inf), list(range(len(grid))), []
    while left:
        means = {i: np.maximum(best, grid[i]).mean(axis=0) for i in left}
        pick = max(left, key=lambda i: (*means[i].round(9), *measured[i]))
        best = np.maximum(best, grid[pick])
        chosen.append(pick)
        left.remove(pick)
    return chosen
