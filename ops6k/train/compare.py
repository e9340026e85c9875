"""Agents against what needs no agent, on tasks of clusters that none of them has seen, at equal numbers of attempts.

Standard library and numpy only; scikit-learn where the trees are fitted. A strategy is an order of plans for a task; what
counts is the best of its first k attempts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ops6k.errors import MissingInput
from ops6k.records import Task
from ops6k.train import fixed, trees
from ops6k.train.bootstrap import Share, share_closed
from ops6k.train.environment import PlanEnvironment
from ops6k.train.features import ATTEMPTS
from ops6k.train.known import Known
from ops6k.train.scores import Order, Score, by_milestone, by_speed, score, values
from ops6k.train.times import PlanTime

RANDOM_DRAWS = 64
STRATEGIES = (
    "agent", "tree", "forest", "best_fixed", "always_eager", "always_default", "always_max_autotune", "random", "oracle",
)  # fmt: skip
LEARNED = ("agent", "tree", "forest")
"""Those whose share of the gap is asked for."""
_FIXED_BY_SPEED, _ORACLE_BY_SPEED = "best_fixed_by_speed", "oracle_by_speed"
_MAX_AUTOTUNE = ("max_autotune", "freezing_max_autotune")
"""On a GPU, on a CPU."""


class Policy(Protocol):
    """The trained Agent, or anything that acts like one in a test."""

    def act(self, seen: dict[str, np.ndarray], mask: np.ndarray) -> int: ...


@dataclass(frozen=True, slots=True)
class Tried:
    """What every strategy tries on the judged tasks of one split."""

    tasks: tuple[Task, ...]
    fixed: str
    """The first of the best fixed plans, chosen on this split's training tasks."""
    runs: dict[str, tuple[tuple[Order, ...], ...]]
    """By strategy: an order for each task, run by run."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the gap between best fixed plan and oracle, one attempt each: by mean milestone, and by the logarithm of the speed-up
    over the better of eager and default compile, each against the fixed plan and the oracle that are best by that figure."""

    milestone: Share
    log_speedup: Share


@dataclass(frozen=True, slots=True)
class Comparison:
    tasks: int
    clusters: int
    seeds: int
    """Agents trained for each split, and runs of tree and forest."""
    best_fixed_plans: tuple[str, ...]
    """One a split."""
    one_attempt: dict[str, Score]
    four_attempts: dict[str, Score]
    gap_closed: dict[str, Shares]
    """Of the strategies that learn."""


def tried(agents: Sequence[Policy], train: Sequence[Task], judged: Sequence[Task], known: Known, seed: int) -> Tried:
    """agents: trained on `train`, a seed each. Raises MissingInput where no task can be judged."""
    tasks = known.judgeable(judged)
    if not tasks:
        raise MissingInput(f"plan times: eager was measured for none of {len(judged)} tasks to be judged")
    found = [fixed.rules(known.table.attempts(task.task_id), known.sketches[task.task_id]) for task in tasks]
    best = fixed.fixed_order(train, known.table, known.sketches)
    quickest = fixed.fixed_order(train, known.table, known.sketches, by_speed)
    seeds = range(seed, seed + len(agents))
    both = (known.table, known.sketches)
    runs = {
        "agent": tuple(agent_orders(agent, tasks, known) for agent in agents),
        "tree": tuple(tuple(trees.tree_orders(trees.tree, train, tasks, both, one)) for one in seeds),
        "forest": tuple(tuple(trees.tree_orders(trees.forest, train, tasks, both, one)) for one in seeds),
        "random": tuple(_random_orders(tasks, known, np.random.default_rng(seed))),
        "oracle": (_best_first(tasks, known, by_milestone),),
        _ORACLE_BY_SPEED: (_best_first(tasks, known, by_speed),),
    }
    orders = {"always_eager": ("eager",), "always_default": ("default",), "always_max_autotune": _MAX_AUTOTUNE}
    once = {name: (tuple(fixed.follow(order, of)[:1] for of in found),) for name, order in orders.items()}
    many = {"best_fixed": best, _FIXED_BY_SPEED: quickest}
    return Tried(
        tasks, best[0], runs | once | {name: (tuple(fixed.follow(order, of) for of in found),) for name, order in many.items()}
    )


def joined(parts: Sequence[Tried]) -> Tried:
    """Several splits as one: run r of a strategy is its run r on each of them."""
    names = parts[0].runs
    runs = {name: tuple(sum(run, ()) for run in zip(*(part.runs[name] for part in parts), strict=True)) for name in names}
    return Tried(sum((part.tasks for part in parts), ()), ", ".join(dict.fromkeys(part.fixed for part in parts)), runs)


def compare(parts: Sequence[Tried], known: Known, seed: int) -> Comparison:
    """Scores over the tasks of all splits together, and the shares of the gap."""
    whole = joined(parts)
    eager = [row for task in whole.tasks if (row := known.eager(task))]
    scores = [{name: score(values(whole.runs[name], eager, attempts)) for name in STRATEGIES} for attempts in (1, ATTEMPTS)]
    return Comparison(
        tasks=len(whole.tasks),
        clusters=len({task.cluster for task in whole.tasks}),
        seeds=len(whole.runs["agent"]),
        best_fixed_plans=tuple(part.fixed for part in parts),
        one_attempt=scores[0],
        four_attempts=scores[1],
        gap_closed={name: _shares(whole, name, eager, seed) for name in LEARNED},
    )


def agent_orders(policy: Policy, tasks: Sequence[Task], known: Known) -> tuple[Order, ...]:
    """What the policy tries on each task, with feedback after each attempt."""
    environment = PlanEnvironment(tasks, known.table, known.sketches)
    orders = []
    for index in range(len(environment.tasks)):
        seen, _ = environment.reset(options={"task": index})
        ended = False
        while not ended:
            action = policy.act(seen, environment.action_masks())
            seen, _, ended, _, _ = environment.step(np.int64(action))
        orders.append(tuple(environment.tried))
    return tuple(orders)


def _shares(whole: Tried, name: str, eager: Sequence[PlanTime], seed: int) -> Shares:
    clusters = [task.cluster for task in whole.tasks]

    def of(figure: str, lower: str, upper: str) -> Share:
        own, low, high = (getattr(values(whole.runs[one], eager, 1), figure) for one in (name, lower, upper))
        return share_closed(own, low[0], high[0], clusters, np.random.default_rng(seed))

    return Shares(of("milestone", "best_fixed", "oracle"), of("log_better", _FIXED_BY_SPEED, _ORACLE_BY_SPEED))


def _random_orders(tasks: Sequence[Task], known: Known, generator: np.random.Generator) -> Iterator[tuple[Order, ...]]:
    """RANDOM_DRAWS times an order without repeats for each task."""
    rows = [tuple(known.table.attempts(task.task_id).values()) for task in tasks]
    for _ in range(RANDOM_DRAWS):
        yield tuple(tuple(found[i] for i in generator.permutation(len(found))[:ATTEMPTS]) for found in rows)


def _best_first(tasks: Sequence[Task], known: Known, worth: fixed.Worth) -> tuple[Order, ...]:
    return tuple(tuple(sorted(known.table.attempts(task.task_id).values(), key=worth, reverse=True)) for task in tasks)
