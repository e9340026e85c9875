"""The Gymnasium environment: an episode is one task, an action is one decision of a plan, or to stop.

A backend completes the plan in hand and makes the attempt. Up to four attempts, each answered with what the plan did.
Rewards are the differences of the best milestone so far, so that an episode's rewards sum to the best attempt's milestone:
-1 when all were wrong, else 1, 2 or 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np

from ops6k.errors import MissingInput
from ops6k.records import Task
from ops6k.train import features
from ops6k.train.features import ATTEMPTS
from ops6k.train.plans import ACTIONS, STOP, Plan, plan_of
from ops6k.train.sketch import Sketch
from ops6k.train.source import TableTimes, TimeSource
from ops6k.train.times import PlanTime, TimeTable

NUMBER = {name: number for number, name in enumerate(ACTIONS)}
"""Of an action."""
Observation = dict[str, np.ndarray]
Decided = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """The plans of one task as a tree of decisions: each set of rewrites has one spelling, the table's order."""

    below: dict[Decided, dict[str, tuple[str, ...]]]
    """Decisions so far -> next decision -> names of the plans beneath it."""

    @classmethod
    def of(cls, plans: Sequence[str]) -> "Choices":
        below: dict[Decided, dict[str, tuple[str, ...]]] = {(): {}}
        for name in plans:
            decisions = Plan.named(name).decisions
            for length, decision in enumerate(decisions):
                ways = below.setdefault(decisions[:length], {})
                ways[decision] = (*ways.get(decision, ()), name)
        return cls(below)

    def mask(self, decided: Decided, tried: set[str], *, may_stop: bool) -> np.ndarray:
        """Which actions lead to a plan that was not tried, (len(ACTIONS),) bool; to stop only between plans."""
        mask = np.zeros(len(ACTIONS), bool)
        for decision, plans in self.below.get(decided, {}).items():
            mask[NUMBER[decision]] = not tried.issuperset(plans)
        mask[NUMBER[STOP]] = may_stop and not decided
        return mask


def observation_space() -> gymnasium.spaces.Dict:
    box, limit = gymnasium.spaces.Box, features.LIMIT
    return gymnasium.spaces.Dict(
        {
            name: box(0, 1, shape, np.int8) if name in features.BINARY else box(-limit, limit, shape, np.float32)
            for name, shape in features.SHAPES.items()
        }
    )


class PlanEnvironment(gymnasium.Env[Observation, np.int64]):
    """Tasks with times, drawn at random; `reset(options={"task": i})` picks one.

    Observation: as features.SHAPES. Action: Discrete(len(plans.ACTIONS)), masked by `action_masks()`. An action outside the
    mask is answered with reward 0 and `info["masked"]`, and uses up an attempt: nothing is invented.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self, tasks: Sequence[Task], source: TimeSource | TimeTable, sketches: Mapping[str, Sketch], attempts: int = ATTEMPTS
    ) -> None:
        """Tasks without a plan are left out; raises MissingInput when none is left. sketches: by task_id."""
        self.source: TimeSource = TableTimes(source) if isinstance(source, TimeTable) else source
        offered = {task.task_id: self.source.plans(task) for task in tasks}
        self.tasks = tuple(task for task in tasks if offered[task.task_id])
        if not self.tasks:
            raise MissingInput(f"plan times: none of {len(tasks)} tasks has a measured plan")
        self.choices = tuple(Choices.of(offered[task.task_id]) for task in self.tasks)
        self.seen = tuple(features.fixed(task, sketches[task.task_id]) for task in self.tasks)
        self.attempts = attempts
        self.opened = len(self.tasks)
        self.observation_space = observation_space()
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self._begin(0)

    def open(self, count: int) -> None:
        """Draw from the first `count` tasks only, from the next episode on: a curriculum."""
        self.opened = min(max(count, 1), len(self.tasks))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        index = (options or {}).get("task")
        self._begin(int(self.np_random.integers(self.opened)) if index is None else index)
        return self._observe(), {"task_id": self.task.task_id}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        name, allowed = ACTIONS[int(action)], bool(self.action_masks()[int(action)])
        reward = self._decide(name) if allowed and name != STOP else 0.0
        if not allowed:
            self.used, self.decided = self.used + 1, ()
        ended = (allowed and name == STOP) or self.used >= self.attempts or self._is_exhausted()
        info = {"task_id": self.task.task_id, "masked": not allowed, "best": self.best}
        return self._observe(), reward, ended, False, info

    def action_masks(self) -> np.ndarray:
        """Which actions count now, (len(ACTIONS),) bool."""
        tried = {row.plan for row in self.tried}
        return self.choices[self.index].mask(self.decided, tried, may_stop=bool(tried))

    def _begin(self, index: int) -> None:
        self.index, self.task = index, self.tasks[index]
        self.tried: list[PlanTime] = []
        self.decided: Decided = ()
        self.used = 0
        self.best = 0

    def _decide(self, name: str) -> float:
        """One decision more; when it was the last, the difference that the attempt makes to the best milestone."""
        below = self.choices[self.index].below
        self.decided = (*self.decided, name)
        if self.decided in below:
            return 0.0
        row = self.source.time(self.task, plan_of(self.decided).name)
        before, self.best = self.best, max(self.best, row.milestone) if self.tried else row.milestone
        self.tried.append(row)
        self.used, self.decided = self.used + 1, ()
        return float(self.best - before)

    def _is_exhausted(self) -> bool:
        return not self.action_masks()[: NUMBER[STOP]].any()

    def _observe(self) -> Observation:
        # copies: what is handed out is the receiver's, and gymnasium's checker asks for it
        task = {name: array.copy() for name, array in self.seen[self.index].items()}
        return task | features.changing(self.tried, self.best, self.decided)
