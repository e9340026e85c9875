"""The policy's eyes: attention over a task's operators, joined with what trees read, for stable-baselines3.

The task's vector goes straight to the joint layer: graph attention alone learned less from 100-200 tasks than a random
forest on that vector. The graph adds a narrow, dropped-out summary.
"""

from dataclasses import dataclass

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn
from torch.nn import functional as F

HIDDEN = -1e9
"""Added to the attention of what is padding; finite, so that an empty graph is not NaN."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the network; in config.json beside the weights."""

    width: int = 64
    heads: int = 4
    layers: int = 2
    summary: int = 32
    """Floats that the graph hands on."""
    joint: int = 128
    dropout: float = 0.2
    head_layers: tuple[int, ...] = (64,)
    """Hidden layers of the policy head, and of the value head."""


class Block(nn.Module):
    """One layer of attention over operators; a learned bias a head says how much readers, read and unrelated count."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.before, self.between = nn.LayerNorm(sizes.width), nn.LayerNorm(sizes.width)
        self.split, self.merge = nn.Linear(sizes.width, 3 * sizes.width), nn.Linear(sizes.width, sizes.width)
        self.deep = nn.Sequential(nn.Linear(sizes.width, 2 * sizes.width), nn.ReLU(), nn.Linear(2 * sizes.width, sizes.width))
        self.bias = nn.Parameter(torch.zeros(3, sizes.heads))
        """Unrelated, a node that this one reads, a node that reads this one."""

    def forward(self, x: Tensor, edges: Tensor, padding: Tensor) -> Tensor:
        """x: (B, N, width); edges: (B, N, N), 1 where the row reads the column; padding: (B, N), 0 or HIDDEN."""
        batch, count, width = x.shape
        none, reads, read_by = self.bias[:, None, :, None, None]
        related = edges[:, None]
        bias = none + (reads - none) * related + (read_by - none) * related.transpose(2, 3) + padding[:, None, None]
        parts = self.split(self.before(x)).view(batch, count, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts, attn_mask=bias)
        x = x + self.merge(mixed.transpose(1, 2).reshape(batch, count, width))
        return x + self.deep(self.between(x))


class GraphEncoder(BaseFeaturesExtractor):
    """Observation -> (B, joint) features."""

    def __init__(self, observation_space: spaces.Dict, sizes: Sizes) -> None:
        super().__init__(observation_space, sizes.joint)
        seen = {name: space.shape[-1] for name, space in observation_space.spaces.items()}
        self.enter = nn.Linear(seen["nodes"], sizes.width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.summary = nn.Sequential(nn.LayerNorm(2 * sizes.width), nn.Linear(2 * sizes.width, sizes.summary), nn.ReLU())
        self.dropout = nn.Dropout(sizes.dropout)
        self.joint = nn.Linear(sizes.summary + seen["task"] + seen["attempts"] + seen["decided"], sizes.joint)

    def forward(self, seen: dict[str, Tensor]) -> Tensor:
        return self.join(self.of_task(seen), seen["attempts"], seen["decided"])

    def of_task(self, seen: dict[str, Tensor]) -> Tensor:
        """What does not change in an episode, (B, summary + task): made once a task where many states share it."""
        count = max(int(seen["node_mask"].sum(1).max()), 1)  # padding beyond the batch's largest graph is not computed
        mask, edges = seen["node_mask"][:, :count].float(), seen["edges"][:, :count, :count].float()
        x, padding = self.enter(seen["nodes"][:, :count]), (1 - mask) * HIDDEN
        for block in self.blocks:
            x = block(x, edges, padding)
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        largest = torch.where(mask.any(1, keepdim=True), (x + padding[..., None]).amax(1), 0.0)
        return torch.cat([self.dropout(self.summary(torch.cat([mean, largest], 1))), self.dropout(seen["task"])], 1)

    def join(self, task: Tensor, attempts: Tensor, decided: Tensor) -> Tensor:
        joined = torch.cat([task, attempts, decided.float()], 1)
        return self.dropout(torch.relu(self.joint(joined)))


def policy_arguments(sizes: Sizes) -> dict[str, object]:
    """What MaskablePPO's MultiInputPolicy takes to see with a GraphEncoder."""
    return {
        "features_extractor_class": GraphEncoder,
        "features_extractor_kwargs": {"sizes": sizes},
        "net_arch": list(sizes.head_layers),
        "activation_fn": nn.ReLU,
        "ortho_init": False,
    }


def new_policy(sizes: Sizes, seed: int = 0) -> nn.Module:
    """An untrained policy; its weights depend on sizes and seed alone."""
    from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy

    from ops6k.train.environment import observation_space
    from ops6k.train.plans import ACTIONS

    torch.manual_seed(seed)
    actions = spaces.Discrete(len(ACTIONS))
    return MaskableMultiInputActorCriticPolicy(observation_space(), actions, lambda _: 0.0, **policy_arguments(sizes))
