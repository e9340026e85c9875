"""Training on the CPU, repeatable: a network taught by the table first, then sb3-contrib's MaskablePPO on the environment.

Same table, sketches, tasks, steps and seed give the same weights on the same machine (one thread, every generator seeded).
Clusters of the training tasks are left out to say when to stop: the weights that do best on them are kept.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from ops6k import progress
from ops6k.records import Task
from ops6k.train import checkpoint
from ops6k.train.encoder import Sizes, policy_arguments
from ops6k.train.environment import PlanEnvironment
from ops6k.train.pretrain import Lesson, Pretraining, lessons_of, pretrain, regret
from ops6k.train.situations import known, measured_worths
from ops6k.train.sketch import Sketch
from ops6k.train.source import TableTimes, TimeSource
from ops6k.train.times import TimeTable

SIZES = Sizes()
ENVIRONMENTS = 8
ROLLOUT_STEPS = 64
"""Per environment; with 8 of them an update every 512 steps."""
ROLLOUT = ENVIRONMENTS * ROLLOUT_STEPS
DISCOUNT = 0.9
"""Below 1, so that a good first attempt is worth more than a good fourth."""
LEFT_OUT = 0.2
"""Of the training tasks' clusters: they say when to stop."""
FEWEST_TO_LEAVE_OUT = 20
CHUNK = 10
"""Rollouts from one checkpoint to the next. Each chunk seeds every generator and begins its episodes anew, so that a training
that went on from a checkpoint ends with the weights of one that was never interrupted."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of the learning curve: mean episode reward of the last 100 episodes, None before the first has ended."""

    step: int
    mean_reward: float | None


@dataclass(frozen=True, slots=True)
class Trained:
    """What one seed came to."""

    policy: torch.nn.Module
    curve: tuple[CurvePoint, ...]
    regret: float
    """Milestones that the next attempt leaves on the table, on the clusters left out; lower is better."""


class Teacher(BaseCallback):
    """After each rollout: a point of the curve, the best weights so far, the stage's progress."""

    def __init__(self, tracker: progress.Tracker, checks: Sequence[Lesson], begun: checkpoint.State, steps: int) -> None:
        super().__init__()
        self.tracker, self.checks, self.steps = tracker, checks, steps
        self.state = begun

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        """A curriculum: tasks of few operators first, all of them from halfway on."""
        share = min(1.0, 0.4 + 1.2 * self.num_timesteps / self.steps)
        for one in self.training_env.envs:
            environment = one.unwrapped
            environment.open(round(share * len(environment.tasks)))
        self._judge()

    def _on_rollout_end(self) -> None:
        episodes = self.model.ep_info_buffer or ()
        mean = sum(episode["r"] for episode in episodes) / len(episodes) if episodes else None
        self.state.curve.append((self.num_timesteps, mean))
        self.tracker.advance(ROLLOUT, "" if mean is None else f"mean reward {mean:.2f}, regret left out {self.state.regret:.3f}")

    def _on_training_end(self) -> None:
        self._judge()

    def _judge(self) -> None:
        found = regret(self.model.policy, self.checks)
        if found < self.state.regret:
            self.state.regret, self.state.best = found, copy.deepcopy(self.model.policy.state_dict())


def train(
    tasks: Sequence[Task],
    source: TimeSource | TimeTable,
    sketches: Mapping[str, Sketch],
    steps: int,
    seed: int,
    work: Path | None = None,
) -> Trained:
    """One agent; `steps` is rounded up to whole rollouts. work: a folder where an interrupted training goes on.

    Raises MissingInput without measured tasks.
    """
    times = TableTimes(source) if isinstance(source, TimeTable) else source
    with _one_thread():
        model = new_model(tasks, times, sketches, seed)
        learned, left_out = _left_out(tasks)
        worths = measured_worths(times)
        taught, checked = (known(part, times, sketches, worths) for part in (learned, left_out))
        checks = lessons_of(checked, Pretraining(), seed)
        path = work / f"seed_{seed}.pt" if work else None
        state = checkpoint.read(path, model) if path else None
        if state is None:
            pretrain(model.policy, taught, checked, Pretraining(), seed)
            state = checkpoint.State(copy.deepcopy(model.policy.state_dict()), regret(model.policy, checks), [])
        _without_dropout(model.policy)
        steps = -(-steps // ROLLOUT) * ROLLOUT
        with progress.track("train", steps - model.num_timesteps) as tracker:
            teacher = Teacher(tracker, checks, state, steps)
            while model.num_timesteps < steps:
                _begin_chunk(model, seed)
                model.learn(min(CHUNK * ROLLOUT, steps - model.num_timesteps), callback=teacher, reset_num_timesteps=False)
                if path is not None:
                    checkpoint.write(path, state, model)
    model.policy.load_state_dict(state.best)
    model.policy.set_training_mode(False)
    return Trained(model.policy, tuple(CurvePoint(*point) for point in state.curve) or (CurvePoint(0, None),), state.regret)


def new_model(
    tasks: Sequence[Task], source: TimeSource | TimeTable, sketches: Mapping[str, Sketch], seed: int, sizes: Sizes = SIZES
) -> MaskablePPO:
    """The untrained model: its weights depend on sizes and seed alone. Tasks come in the order of their depth."""
    by_depth = sorted(tasks, key=lambda task: (task.depth, task.task_id))
    environments = DummyVecEnv([lambda: Monitor(PlanEnvironment(by_depth, source, sketches)) for _ in range(ENVIRONMENTS)])
    return MaskablePPO(
        "MultiInputPolicy",
        environments,
        n_steps=ROLLOUT_STEPS,
        batch_size=128,
        n_epochs=4,
        learning_rate=1e-4,
        target_kl=0.02,  # what the table taught is changed in small steps
        gamma=DISCOUNT,
        ent_coef=0.003,
        policy_kwargs=policy_arguments(sizes),
        seed=seed,
        device="cpu",
    )


def _begin_chunk(model: MaskablePPO, seed: int) -> None:
    """Generators, episodes and the mean reward's window as a chunk finds them, whatever was before."""
    model.set_random_seed(int(np.random.SeedSequence([seed, model.num_timesteps]).generate_state(1)[0] % 2**31))
    model._last_obs = None  # learn resets the environments then
    model.ep_info_buffer = None


def _left_out(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """Tasks to learn from and tasks that say when to stop, the same for every seed; all on both sides where there are few."""
    if len(tasks) < FEWEST_TO_LEAVE_OUT:
        return tuple(tasks), tuple(tasks)
    clusters = sorted({task.cluster for task in tasks})
    drawn = np.random.default_rng(0).permutation(clusters).tolist()  # names may follow how the set was made
    chosen = set(drawn[: max(1, round(LEFT_OUT * len(drawn)))])
    return tuple(task for task in tasks if task.cluster not in chosen), tuple(task for task in tasks if task.cluster in chosen)


def _without_dropout(policy: torch.nn.Module) -> None:
    """PPO compares a policy with itself: dropout would make every ratio noise."""
    for module in policy.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums of several threads depend on their number: one gives the same weights on any CPU of a kind."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
