"""Models and inputs of a task, made with a seed on the device, under the target's precision."""

from typing import Protocol

import torch

from ops6k.screen.load import Loaded

MODEL_SEED, TWIN_SEED, OTHER_SEED = 1001, 1002, 1003


class Conditions(Protocol):
    """What a target, or a request without one, says of how code is run."""

    device: str
    matmul_precision: str
    tf32: bool
    threads: int


def set_precision(target: Conditions) -> None:
    """States what eager and compiled code are measured under: the same for both."""
    torch.set_float32_matmul_precision(target.matmul_precision)
    torch.backends.cuda.matmul.allow_tf32 = target.tf32
    torch.backends.cudnn.allow_tf32 = target.tf32
    torch.backends.cudnn.benchmark = False
    torch.set_num_threads(target.threads)
    torch.set_grad_enabled(False)


def seed_all(seed: int) -> None:
    import random

    random.seed(seed)
    torch.manual_seed(seed)


def make_model(task: Loaded, device: str, seed: int) -> torch.nn.Module:
    """A model in eval mode whose weights depend on the seed alone, built on the device."""
    seed_all(seed)
    with torch.device(device):
        return task.model(*task.get_init_inputs()).eval().to(device)


def make_inputs(task: Loaded, device: str, seed: int) -> list:
    """The arguments of forward, drawn on the device: 6 GB drawn on a CPU took 11 s."""
    seed_all(seed)
    with torch.device(device):
        arguments = task.get_inputs()
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda x: x.detach().to(device), list(arguments))


def tensors_of(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def generator_states(device: str) -> list[torch.Tensor]:
    states = [torch.get_rng_state()]
    return [*states, torch.cuda.get_rng_state()] if device == "cuda" else states
