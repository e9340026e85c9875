"""What there is to learn of one task from its table: situations, and in each the targets of every decision.

A situation is a set of plans that were tried. The plans left form a tree of decisions; a soft target over them becomes a
target for each decision, and a plan's regret says what trying it next leaves on the table. Numpy only.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ops6k.records import Task
from ops6k.train import features
from ops6k.train.environment import NUMBER, Choices, Decided
from ops6k.train.plans import ACTIONS, STOP, Plan
from ops6k.train.sketch import Sketch
from ops6k.train.source import TimeSource
from ops6k.train.times import PlanTime

Worths = Callable[[Task], Mapping[str, float]]
"""What each of a task's plans is worth, by name. A seam: another model's predictions can be mixed in."""

CLIP = 0.7
"""Of the log ratio against default compile: a factor of two."""
LEAST_WEIGHT = 0.05
"""Of a decision that the target never reaches: a policy may."""


@dataclass(frozen=True, slots=True)
class Known:
    """One task with all that its table says."""

    seen: dict[str, np.ndarray]
    """features.fixed."""
    rows: dict[str, PlanTime]
    choices: Choices
    worths: dict[str, float]


@dataclass(frozen=True, slots=True)
class Situation:
    """S decisions that can come up before the next attempt, and P ends: the plans that it can be, and to stop. Probabilities sum to 1 in each row."""

    attempts: np.ndarray
    """(len(features.ATTEMPT_FEATURES),)"""
    decided: np.ndarray
    """(S, len(features.BEFORE))"""
    masks: np.ndarray
    """(S, actions)"""
    targets: np.ndarray
    """(S, actions)"""
    values: np.ndarray
    """(S,) what the next attempt is expected to add to the best milestone, under the target."""
    weights: np.ndarray
    """(S,) how likely the target is to come by."""
    steps: np.ndarray
    """(T, 3) end, decision, action: the way to every end."""
    regrets: np.ndarray
    """(P,) worth left on the table if that comes next, 0 or more."""


def measured_worths(source: TimeSource) -> Worths:
    """Milestone plus the clipped log ratio against default compile: graded, so that equal milestones still differ."""
    return lambda task: {name: worth(source.time(task, name)) for name in source.plans(task)}


def worth(row: PlanTime) -> float:
    ratio = row.ratio_compiled if row.milestone > 0 and row.ratio_compiled else 1.0
    return row.milestone + min(max(math.log(ratio), -CLIP), CLIP)


def known(tasks: Sequence[Task], source: TimeSource, sketches: Mapping[str, Sketch], worths: Worths) -> list[Known]:
    """Every plan of every task that has one."""
    found = []
    for task in tasks:
        if rows := {name: source.time(task, name) for name in source.plans(task)}:
            seen = features.fixed(task, sketches[task.task_id])
            found.append(Known(seen, rows, Choices.of(tuple(rows)), dict(worths(task))))
    return found


def situation(of: Known, tried: Sequence[str], temperature: float) -> Situation:
    """After these attempts, at least one plan left. Where 3 is reached nothing can be added: the target is to stop."""
    rows = [of.rows[name] for name in tried]
    best = max((row.milestone for row in rows), default=0)
    attempts = features.attempts_vector(rows, best)
    left = [name for name in of.rows if name not in tried]
    if best == 3:
        return _stop(of, attempts, set(tried))
    share = dict(zip(left, soft([of.worths[name] for name in left], temperature), strict=True))
    gain = {name: float(max(best, of.rows[name].milestone) if rows else of.rows[name].milestone) - best for name in left}
    ways = [(decided, _ways(of.choices.below[decided], share)) for decided in of.choices.below]
    ways = [(decided, way) for decided, way in ways if way]
    targets, values, weights = zip(*(_decision(way, share, gain) for _, way in ways), strict=True)
    index = {decided: index for index, (decided, _) in enumerate(ways)}
    floor = max((of.worths[name] for name in tried), default=-math.inf)
    steps, ends = _steps(left, index), [max(of.worths[name], floor) for name in left]
    if tried:  # to stop is an end as well, and leaves what the others would add
        steps, ends = np.concatenate([steps, [(len(left), index[()], NUMBER[STOP])]]), [*ends, floor]
    return Situation(
        attempts,
        np.stack([features.decided_vector(decided) for decided, _ in ways]),
        np.stack([of.choices.mask(decided, set(tried), may_stop=bool(tried)) for decided, _ in ways]),
        np.stack(targets),
        np.array(values, np.float32),
        np.array(weights, np.float32),
        steps,
        _regrets(ends),
    )


def soft(worths: Sequence[float], temperature: float) -> np.ndarray:
    """Softmax, (plans,) float64."""
    raised = np.exp((np.array(worths) - max(worths)) / temperature)
    return raised / raised.sum()


def histories(of: Known, count: int, generator: np.random.Generator) -> list[tuple[str, ...]]:
    """`count` sets of one to three attempts drawn at random, a plan left over; none for a task of one plan."""
    names = list(of.rows)
    most = min(features.ATTEMPTS - 1, len(names) - 1)
    if most < 1:
        return []
    return [tuple(generator.permutation(names)[: generator.integers(1, most + 1)].tolist()) for _ in range(count)]


def _ways(below: Mapping[str, Sequence[str]], share: Mapping[str, float]) -> dict[str, list[str]]:
    """The next decisions that have a plan left beneath them."""
    ways = {decision: [name for name in plans if name in share] for decision, plans in below.items()}
    return {decision: plans for decision, plans in ways.items() if plans}


def _decision(
    ways: Mapping[str, Sequence[str]], share: Mapping[str, float], gain: Mapping[str, float]
) -> tuple[np.ndarray, float, float]:
    """Target, value and weight of one decision: a next decision is as likely as the plans beneath it together."""
    sums = {decision: sum(share[name] for name in plans) for decision, plans in ways.items()}
    whole = max(sum(sums.values()), 1e-12)
    target = np.zeros(len(ACTIONS), np.float32)
    for decision, total in sums.items():
        target[NUMBER[decision]] = total / whole if whole > 1e-12 else 1 / len(sums)
    value = sum(share[name] * gain[name] for plans in ways.values() for name in plans) / whole
    return target, value, whole + LEAST_WEIGHT


def _steps(left: Sequence[str], index: Mapping[Decided, int]) -> np.ndarray:
    found = []
    for plan, name in enumerate(left):
        decisions = Plan.named(name).decisions
        found += [(plan, index[decisions[:at]], NUMBER[decision]) for at, decision in enumerate(decisions)]
    return np.array(found)


def _regrets(worths: Sequence[float]) -> np.ndarray:
    return (max(worths) - np.array(worths)).astype(np.float32)


def _stop(of: Known, attempts: np.ndarray, tried: set[str]) -> Situation:
    target = np.zeros((1, len(ACTIONS)), np.float32)
    target[0, NUMBER[STOP]] = 1.0
    mask = of.choices.mask((), tried, may_stop=True)[None]
    none = np.zeros(1, np.float32)
    return Situation(attempts, features.decided_vector(())[None], mask, target, none, none + 1, np.zeros((0, 3), int), none[:0])
