"""Supervised learning from a table before any reinforcement: what a task's plans are worth is known, so say it.

Policy head: soft targets decision by decision, and the expected regret of the next attempt; value head: what the next attempt
is expected to add. States after attempts that left something to gain are learned too. Training stops when tasks of clusters left
out no longer gain; the best weights stay.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ops6k import progress
from ops6k.train.situations import Known, Situation, histories, situation


@dataclass(frozen=True, slots=True)
class Pretraining:
    """How."""

    epochs: int = 240
    patience: int = 60
    """Epochs without a gain on the clusters left out."""
    batch: int = 32
    """Tasks."""
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    temperature: float = 0.15
    """Of the soft targets, in milestones."""
    imitate: float = 0.3
    """Weight of the soft targets, beside the expected regret of one attempt."""
    value: float = 0.25
    histories: int = 6
    """Sets of earlier attempts drawn for a task; one of them is learned in each epoch."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A task and all situations learned of it, the one before any attempt first."""

    task: dict[str, Tensor]
    situations: tuple[Situation, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """Means over situations."""

    regret: Tensor
    imitation: Tensor
    value: Tensor

    def together(self, how: Pretraining) -> Tensor:
        return self.regret + how.imitate * self.imitation + how.value * self.value


def pretrain(
    policy: nn.Module, train: Sequence[Known], left_out: Sequence[Known], how: Pretraining, seed: int
) -> tuple[float, ...]:
    """The policy's weights become the best ones; returns the regret on the clusters left out, epoch by epoch.

    policy: an sb3-contrib maskable policy with a GraphEncoder. left_out: the training tasks again where nothing is left out.
    """
    generator = np.random.default_rng(seed)
    torch.manual_seed(seed)
    lessons, checks = lessons_of(train, how, seed), lessons_of(left_out, how, seed)
    optimizer = torch.optim.AdamW(policy.parameters(), how.learning_rate, weight_decay=how.weight_decay)
    best, found, regrets = copy.deepcopy(policy.state_dict()), float("inf"), []
    with progress.track("train", how.epochs) as tracker:
        for _ in range(how.epochs):
            _epoch(policy, lessons, optimizer, how, generator)
            regrets.append(regret(policy, checks))
            if regrets[-1] < found:
                best, found = copy.deepcopy(policy.state_dict()), regrets[-1]
            tracker.advance(1, f"pre-training, regret {found:.3f}")
            if len(regrets) - 1 - regrets.index(min(regrets)) >= how.patience:
                break
    policy.load_state_dict(best)
    policy.set_training_mode(False)
    return tuple(regrets)


def lessons_of(tasks: Sequence[Known], how: Pretraining, seed: int) -> list[Lesson]:
    """A lesson for each task; the attempts before are drawn with the seed."""
    generator = np.random.default_rng(seed)
    return [_lesson(of, how, generator) for of in tasks]


def regret(policy: nn.Module, lessons: Sequence[Lesson]) -> float:
    """Expected worth left on the table by a next attempt as the policy draws it, mean over all situations of the tasks."""
    policy.set_training_mode(False)
    with torch.no_grad():
        return float(losses(policy, [(lesson, lesson.situations) for lesson in lessons]).regret)


def losses(policy: nn.Module, asked: Sequence[tuple[Lesson, Sequence[Situation]]]) -> Losses:
    """Of one pass over these situations; each task is encoded once."""
    encoder = policy.features_extractor
    seen = encoder.of_task({name: torch.stack([lesson.task[name] for lesson, _ in asked]) for name in asked[0][0].task})
    flat = [(number, one) for number, (_, situations) in enumerate(asked) for one in situations]
    counts = torch.tensor([len(one.decided) for _, one in flat])
    of_state = torch.tensor([number for number, _ in flat]).repeat_interleave(counts)
    attempts = torch.from_numpy(np.stack([one.attempts for _, one in flat])).repeat_interleave(counts, 0)
    joined = encoder.join(seen[of_state], attempts, _stacked(flat, "decided"))
    logits = policy.action_net(policy.mlp_extractor.forward_actor(joined))
    chances = torch.log_softmax(logits.masked_fill(~_stacked(flat, "masks"), -1e8), 1)
    values = policy.value_net(policy.mlp_extractor.forward_critic(joined)).flatten()
    weights = _stacked(flat, "weights") / len(flat)
    return Losses(
        _expected_regret(chances, flat),
        -(weights * (_stacked(flat, "targets") * chances).sum(1)).sum(),
        (weights * (values - _stacked(flat, "values")) ** 2).sum(),
    )


def _expected_regret(chances: Tensor, flat: Sequence[tuple[int, Situation]]) -> Tensor:
    """Sum over plans of the chance to take all their decisions times their regret, mean over situations."""
    steps, plans, states = [], 0, 0
    for _, one in flat:
        steps.append(one.steps + np.array([plans, states, 0]))
        plans, states = plans + len(one.regrets), states + len(one.decided)
    plan, state, action = torch.from_numpy(np.concatenate(steps)).T
    ways = torch.zeros(plans).index_add(0, plan, chances[state, action])
    return (ways.exp() * _stacked(flat, "regrets")).sum() / len(flat)


def _stacked(flat: Sequence[tuple[int, Situation]], name: str) -> Tensor:
    return torch.from_numpy(np.concatenate([getattr(one, name) for _, one in flat]))


def _lesson(of: Known, how: Pretraining, generator: np.random.Generator) -> Lesson:
    tried = [(), *histories(of, how.histories, generator)]
    task = {name: torch.from_numpy(array) for name, array in of.seen.items()}
    return Lesson(task, tuple(situation(of, names, how.temperature) for names in tried))


def _epoch(
    policy: nn.Module,
    lessons: Sequence[Lesson],
    optimizer: torch.optim.Optimizer,
    how: Pretraining,
    generator: np.random.Generator,
) -> None:
    policy.set_training_mode(True)
    for batch in _batches(lessons, how.batch, generator):
        optimizer.zero_grad()
        losses(policy, [(lesson, _drawn(lesson.situations, generator)) for lesson in batch]).together(how).backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()


def _batches(lessons: Sequence[Lesson], size: int, generator: np.random.Generator) -> Iterator[list[Lesson]]:
    order = generator.permutation(len(lessons))
    for first in range(0, len(order), size):
        yield [lessons[index] for index in order[first : first + size]]


def _drawn(situations: Sequence[Situation], generator: np.random.Generator) -> list[Situation]:
    """The situation before any attempt, and one of the others."""
    first, *others = situations
    return [first, *([others[generator.integers(len(others))]] if others else [])]
