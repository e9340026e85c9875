"""The agent against what needs no agent, on held-out tasks, at equal numbers of attempts. Standard library and numpy only.

A strategy is an order of plans for a task; what counts is the best of its first k attempts. Where a fixed plan does not
apply to a task, default compile stands in: an option without a target is just that.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ops6k.records import Task
from ops6k.train.environment import PlanEnvironment
from ops6k.train.features import ATTEMPTS
from ops6k.train.plans import PLANS
from ops6k.train.times import PlanStatus, PlanTime, TimeTable

Order = tuple[PlanTime, ...]
"""The attempts of one strategy on one task, first to last."""

RANDOM_DRAWS = 64


class Policy(Protocol):
    """The trained Agent, or anything that acts like one in a test."""

    def act(self, seen: np.ndarray, mask: np.ndarray) -> int: ...


@dataclass(frozen=True, slots=True)
class Score:
    """One strategy on the held-out tasks; shares are 0-1."""

    mean_reward: float
    """Of the milestones -1, 1, 2, 3."""
    pass_rate: float
    faster_than_eager: float
    """Share of tasks with milestone 2 or 3."""
    faster_than_compile: float
    """Share with milestone 3."""
    speedup_over_eager: float
    """Geometric mean over tasks of the best correct attempt's ratio; 1 where none was correct."""


@dataclass(frozen=True, slots=True)
class GapClosed:
    """(agent - best fixed) / (oracle - best fixed) in mean reward, one attempt each; None where there is no gap to close.

    low and high: 95 % bootstrap interval over the held-out tasks.
    """

    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    best_fixed_plan: str
    """Chosen on the training tasks."""
    one_attempt: dict[str, Score]
    four_attempts: dict[str, Score]
    gap_closed: GapClosed


def compare(policy: Policy, train: Sequence[Task], held_out: Sequence[Task], table: TimeTable, seed: int) -> Comparison:
    """Scores of agent, eager, default, best fixed, random and oracle on tasks that all have measured plans."""
    fixed = fixed_order(train, table)
    # A task without a measured default compile cannot say what "always default" would do.
    tasks = [task for task in held_out if table.attempts(task.task_id)]
    orders: dict[str, list[Order]] = {
        "agent": agent_orders(policy, tasks, table),
        "always_eager": [_fixed(("eager",), table, task) for task in tasks],
        "always_default": [_fixed(("default",), table, task) for task in tasks],
        "best_fixed": [_fixed(fixed, table, task) for task in tasks],
    }
    draws = _random_orders(tasks, table, np.random.default_rng(seed))
    oracle = [_best_first(table, task) for task in tasks]
    scores = []
    for attempts in (1, ATTEMPTS):
        named = {name: score(found, attempts) for name, found in orders.items()}
        scores.append(
            named | {"random": score([order for draw in draws for order in draw], attempts), "oracle": score(oracle, attempts)}
        )
    gap = gap_closed(orders["agent"], orders["best_fixed"], oracle, np.random.default_rng(seed))
    return Comparison(fixed[0], scores[0], scores[1], gap)


def agent_orders(policy: Policy, tasks: Sequence[Task], table: TimeTable) -> list[Order]:
    """What the policy tries on each task, with feedback after each attempt."""
    environment = PlanEnvironment(tasks, table)
    orders = []
    for index in range(len(environment.tasks)):
        seen, _ = environment.reset(options={"task": index})
        ended = False
        while not ended:
            action = policy.act(seen, environment.action_masks())
            seen, _, ended, _, _ = environment.step(np.int64(action))
        orders.append(tuple(environment.tried))
    return orders


def fixed_order(train: Sequence[Task], table: TimeTable) -> tuple[str, ...]:
    """The best fixed plans on the training tasks, greedily: first the best one, then what adds most to those before."""
    chosen: tuple[str, ...] = ()
    tasks = [task for task in train if table.attempts(task.task_id)]
    for _ in range(ATTEMPTS):
        left = [plan.name for plan in PLANS if plan.name not in chosen]
        found = {name: score([_fixed((*chosen, name), table, task) for task in tasks], ATTEMPTS) for name in left}
        chosen += (max(left, key=lambda name: (found[name].mean_reward, found[name].speedup_over_eager)),)
    return chosen


def score(orders: Sequence[Order], attempts: int) -> Score:
    """How the best of the first `attempts` attempts did, over tasks; at least one order with one attempt."""
    milestones = np.array([reward(order, attempts) for order in orders])
    speedups = [_speedup(order[:attempts]) for order in orders]
    return Score(
        mean_reward=float(milestones.mean()),
        pass_rate=float((milestones >= 1).mean()),
        faster_than_eager=float((milestones >= 2).mean()),
        faster_than_compile=float((milestones >= 3).mean()),
        speedup_over_eager=math.exp(sum(map(math.log, speedups)) / len(speedups)),
    )


def reward(order: Order, attempts: int) -> int:
    """The best milestone of the first attempts."""
    return max(row.milestone for row in order[:attempts])


def gap_closed(
    agent: Sequence[Order], fixed: Sequence[Order], oracle: Sequence[Order], generator: np.random.Generator
) -> GapClosed:
    """The share of the way from best fixed to oracle that the agent goes, one attempt each."""
    rewards = np.array([[reward(order, 1) for order in orders] for orders in (agent, fixed, oracle)], dtype=float)
    draws = generator.integers(rewards.shape[1], size=(2000, rewards.shape[1]))
    means = rewards[:, draws].mean(axis=2)
    gaps = means[2] - means[1]
    shares = (means[0] - means[1])[gaps > 0] / gaps[gaps > 0]
    whole = rewards.mean(axis=1)
    if whole[2] <= whole[1]:
        return GapClosed(None, None, None)
    low, high = np.quantile(shares, (0.025, 0.975))
    return GapClosed(float((whole[0] - whole[1]) / (whole[2] - whole[1])), float(low), float(high))


def _speedup(order: Order) -> float:
    return max((row.ratio_eager for row in order if row.status is PlanStatus.CORRECT and row.ratio_eager), default=1.0)


def _fixed(names: Sequence[str], table: TimeTable, task: Task) -> Order:
    """The named plans; default compile for one that does not apply, eager where that was not measured either."""
    found = table.attempts(task.task_id)
    stand_in: Callable[[], PlanTime] = lambda: found.get("default") or found.get("eager") or next(iter(found.values()))  # noqa: E731
    return tuple(found.get(name) or stand_in() for name in names)


def _random_orders(tasks: Sequence[Task], table: TimeTable, generator: np.random.Generator) -> list[list[Order]]:
    """RANDOM_DRAWS times an order without repeats for each task."""
    draws = []
    for _ in range(RANDOM_DRAWS):
        rows = [list(table.attempts(task.task_id).values()) for task in tasks]
        draws.append([tuple(found[i] for i in generator.permutation(len(found))) for found in rows])
    return draws


def _best_first(table: TimeTable, task: Task) -> Order:
    rows = table.attempts(task.task_id).values()
    return tuple(sorted(rows, key=lambda row: (-row.milestone, -(row.ratio_eager or 0.0))))
