"""Rivals that learn without an agent: a decision tree and a random forest on the same features, asked for every measured plan.

They predict an attempt's graded milestone from the task's vector and the plan's decisions, and try plans from the best
prediction down; they take no feedback between attempts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from ops6k.records import Task
from ops6k.train.features import flat
from ops6k.train.plans import ACTIONS, Plan
from ops6k.train.scores import Order, graded
from ops6k.train.sketch import Sketch
from ops6k.train.times import TimeTable

LEAVES = (1, 2, 5, 10, 20, 40)
"""Fewest samples of a tree's leaf: chosen by cross-validation over clusters, so that the rival is a fair one."""


class Regressor(Protocol):
    def predict(self, seen: np.ndarray) -> np.ndarray: ...


Fit = Callable[[np.ndarray, np.ndarray, Sequence[str], int], Regressor]
"""Rows, graded milestones, the rows' clusters, seed."""


def tree(seen: np.ndarray, wanted: np.ndarray, clusters: Sequence[str], seed: int) -> Regressor:
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(random_state=seed)
    folds = min(3, len(set(clusters)))
    if folds < 2:
        return model.fit(seen, wanted)
    leaves = {"min_samples_leaf": LEAVES}
    search = GridSearchCV(model, leaves, scoring="neg_mean_squared_error", cv=GroupKFold(folds))
    return search.fit(seen, wanted, groups=clusters)


def forest(seen: np.ndarray, wanted: np.ndarray, clusters: Sequence[str], seed: int) -> Regressor:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(100, min_samples_leaf=2, max_features=1 / 3, random_state=seed).fit(seen, wanted)


def tree_orders(
    fit: Fit, train: Sequence[Task], judged: Sequence[Task], known: tuple[TimeTable, Mapping[str, Sketch]], seed: int
) -> list[Order]:
    """What a model of the training tasks tries on each judged task. known: the times and sketches of both."""
    table, sketches = known
    blocks = [_rows(task, table, sketches) for task in train]
    clusters = [task.cluster for task, block in zip(train, blocks, strict=True) for _ in block]
    wanted = np.array([graded(row) for task in train for row in _attempts(task, table)])
    model = fit(np.concatenate(blocks), wanted, clusters, seed)
    return [_ranked(model, task, table, sketches) for task in judged]


def _ranked(model: Regressor, task: Task, table: TimeTable, sketches: Mapping[str, Sketch]) -> Order:
    attempts = _attempts(task, table)
    guessed = model.predict(_rows(task, table, sketches))
    return tuple(attempts[i] for i in np.argsort(-guessed, kind="stable"))


def _attempts(task: Task, table: TimeTable) -> Order:
    found = table.attempts(task.task_id)
    return tuple(found[name] for name in sorted(found))


def _rows(task: Task, table: TimeTable, sketches: Mapping[str, Sketch]) -> np.ndarray:
    """(plans, features): the task's vector, then the plan's decisions."""
    seen = flat(task, sketches[task.task_id])
    decided = [np.isin(ACTIONS, Plan.named(row.plan).decisions) for row in _attempts(task, table)]
    return np.array([np.concatenate([seen, one]) for one in decided], np.float32).reshape(-1, len(seen) + len(ACTIONS))
