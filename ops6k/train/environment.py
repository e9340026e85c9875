"""The Gymnasium environment: an episode is one task, an action is a plan to try, or to stop.

Up to four attempts, each answered with what the plan did. Rewards are the differences of the best milestone so far, so
that an episode's rewards sum to the best attempt's milestone: -1 when all were wrong, else 1, 2 or 3.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

from ops6k.errors import MissingInput
from ops6k.records import Task
from ops6k.train.features import ATTEMPTS, LIMIT, NAMES, observation
from ops6k.train.plans import PLANS
from ops6k.train.times import PlanTime, TimeTable

STOP = len(PLANS)
"""The last action: no further attempt."""


class PlanEnvironment(gymnasium.Env[np.ndarray, np.int64]):
    """Tasks with measured times, drawn at random; `reset(options={"task": i})` picks one.

    Observation: Box (len(features.NAMES),) float32. Action: Discrete(len(PLANS) + 1), masked by `action_masks()`. An
    action outside the mask is answered with reward 0 and `info["masked"]`, and uses up an attempt: nothing is invented.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, tasks: Sequence[Task], table: TimeTable, attempts: int = ATTEMPTS) -> None:
        """Tasks without a measured plan are left out; raises MissingInput when none is left."""
        self.tasks = tuple(task for task in tasks if table.attempts(task.task_id))
        if not self.tasks:
            raise MissingInput(f"plan times: none of {len(tasks)} tasks has a measured plan")
        self.table = table
        self.attempts = attempts
        self.observation_space = gymnasium.spaces.Box(-LIMIT, LIMIT, (len(NAMES),), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(PLANS) + 1)
        self._begin(self.tasks[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        index = (options or {}).get("task")
        self._begin(self.tasks[int(self.np_random.integers(len(self.tasks))) if index is None else index])
        return self._observe(), {"task_id": self.task.task_id}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        allowed = bool(self.action_masks()[int(action)])
        info: dict[str, Any] = {"task_id": self.task.task_id, "masked": not allowed}
        reward = 0.0
        if int(action) != STOP:
            self.used += 1
            if allowed:
                reward = self._attempt(self.measured[PLANS[int(action)].name])
        ended = (int(action) == STOP and allowed) or self.used >= self.attempts or not self._untried()
        info["best"] = self.best
        return self._observe(), reward, ended, False, info

    def action_masks(self) -> np.ndarray:
        """Which actions count now, (len(PLANS) + 1,) bool: measured plans not yet tried; to stop after the first attempt."""
        untried = self._untried()
        return np.array([plan.name in untried for plan in PLANS] + [bool(self.tried)])

    def _begin(self, task: Task) -> None:
        self.task = task
        self.measured = self.table.attempts(task.task_id)
        self.tried: list[PlanTime] = []
        self.used = 0
        self.best = 0

    def _attempt(self, row: PlanTime) -> float:
        """The difference that this attempt makes to the best milestone; 0 stands for none yet."""
        before = self.best
        self.best = max(before, row.milestone) if self.tried else row.milestone
        self.tried.append(row)
        return float(self.best - before)

    def _untried(self) -> set[str]:
        return set(self.measured) - {row.plan for row in self.tried}

    def _observe(self) -> np.ndarray:
        return observation(self.task, self.tried, self.best)
