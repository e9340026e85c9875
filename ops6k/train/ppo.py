"""Training: sb3-contrib's MaskablePPO on the plan environment, on the CPU, repeatable.

Same table, tasks, steps and seed give the same weights on the same machine (one thread, every generator seeded).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from ops6k import progress
from ops6k.records import Task
from ops6k.train.environment import PlanEnvironment
from ops6k.train.times import TimeTable

LAYERS = (64, 64)
ENVIRONMENTS = 8
ROLLOUT_STEPS = 32
"""Per environment; with 8 of them an update every 256 steps."""
_ROLLOUT = ENVIRONMENTS * ROLLOUT_STEPS
DISCOUNT = 0.9
"""Below 1, so that a good first attempt is worth more than a good fourth."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of the learning curve: mean episode reward of the last 100 episodes, None before the first has ended."""

    step: int
    mean_reward: float | None


class CurveCallback(BaseCallback):
    """Takes a point of the curve after each rollout and advances the stage's progress."""

    def __init__(self, tracker: progress.Tracker) -> None:
        super().__init__()
        self.tracker = tracker
        self.curve: list[CurvePoint] = []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        episodes = self.model.ep_info_buffer or ()
        mean = sum(episode["r"] for episode in episodes) / len(episodes) if episodes else None
        ahead = self.num_timesteps - (self.curve[-1].step if self.curve else 0)
        self.curve.append(CurvePoint(self.num_timesteps, mean))
        self.tracker.advance(ahead, "" if mean is None else f"mean reward {mean:.2f}")


def train(tasks: Sequence[Task], table: TimeTable, steps: int, seed: int) -> tuple[MaskablePPO, tuple[CurvePoint, ...]]:
    """The trained model and its curve; `steps` is rounded up to whole rollouts. Raises MissingInput without measured tasks."""
    with _one_thread():
        model = new_model(tasks, table, seed)
        with progress.track("train", -(-steps // _ROLLOUT) * _ROLLOUT) as tracker:
            callback = CurveCallback(tracker)
            model.learn(steps, callback=callback)
    return model, tuple(callback.curve)


def new_model(tasks: Sequence[Task], table: TimeTable, seed: int) -> MaskablePPO:
    """The untrained model: its weights depend on the seed alone."""
    environments = DummyVecEnv([lambda: Monitor(PlanEnvironment(tasks, table)) for _ in range(ENVIRONMENTS)])
    return MaskablePPO(
        "MlpPolicy",
        environments,
        n_steps=ROLLOUT_STEPS,
        batch_size=64,
        n_epochs=8,
        learning_rate=1e-3,
        gamma=DISCOUNT,
        ent_coef=0.01,
        policy_kwargs={"net_arch": list(LAYERS)},
        seed=seed,
        device="cpu",
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums of several threads depend on their number: one gives the same weights on any CPU of a kind."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
