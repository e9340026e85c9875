"""Where a training stands, as a file: weights, optimiser, the best so far, the curve; read without pickle's freedom."""

import io
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from ops6k import store

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO


@dataclass(slots=True)
class State:
    """What training finds out as it goes."""

    best: dict[str, torch.Tensor]
    """The weights that did best on the clusters left out."""
    regret: float
    """Theirs."""
    curve: list[tuple[int, float | None]]
    """Step and mean episode reward."""


def write(path: Path, state: State, model: "MaskablePPO") -> None:
    """A file that is whole or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with store.whole_file(path) as aside:
        torch.save(
            {
                "best": state.best,
                "regret": state.regret,
                "curve": state.curve,
                "policy": model.policy.state_dict(),
                "optimizer": model.policy.optimizer.state_dict(),
                "step": model.num_timesteps,
            },
            aside,
        )


def read(path: Path, model: "MaskablePPO") -> State | None:
    """The state, and the model as it was then; None where no checkpoint is, or a damaged one."""
    if not path.exists():
        return None
    try:
        kept = torch.load(io.BytesIO(path.read_bytes()), weights_only=True)
    except (RuntimeError, EOFError, ValueError, pickle.UnpicklingError):
        return None
    model.policy.load_state_dict(kept["policy"])
    model.policy.optimizer.load_state_dict(kept["optimizer"])
    model.num_timesteps = kept["step"]
    return State(kept["best"], kept["regret"], [tuple(point) for point in kept["curve"]])
