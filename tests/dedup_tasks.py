"""Tasks of our own that the dedup tests derive copies and neighbours from."""

from ops6k.dedup.decide import Subject

FRAME = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        {init}
    def forward(self, x):
        {forward}

def get_inputs():
    return [torch.randn(64, 256)]

def get_init_inputs():
    return [256]
"""


def framed(init: str, forward: str) -> str:
    return FRAME.format(init=init or "pass", forward=forward)


_GATED = '''
"""Gated projection."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

HEADS = 4


def scale_of(width: int) -> float:
    """One over the root."""
    return 1.0 / math.sqrt(width)


class Gate(nn.Module):
    """Sigmoid gate."""

    def __init__(self, width: int):
        super(Gate, self).__init__()
        self.proj = nn.Linear(width, width, bias=False)
        self.register_buffer("offset", torch.linspace(-1.0, 1.0, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(self.proj(x) + self.offset)


class Model(nn.Module):
    """Norm, gate, heads."""

    def __init__(self, width: int, groups: int):
        super(Model, self).__init__()
        self.norm = nn.GroupNorm(groups, width)
        self.gates = nn.ModuleList([Gate(width) for _ in range(2)])
        self.scale: float = scale_of(width)

    def _heads(self, x):
        # split the last axis
        b, w = x.shape
        return x.view(b, HEADS, w // HEADS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Forward."""
        x = self.norm(x)
        for i, gate in enumerate(self.gates):
            x = gate(x) if i % 2 == 0 else F.silu(gate(x))
        y = self._heads(x)
        return torch.einsum("bhd,bhd->bh", y, y) * self.scale


batch = 128
width = 512


def get_inputs():
    return [torch.randn(batch, width)]


def get_init_inputs():
    return [width, 8]
'''

_CONVOLUTION = '''
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, channels, kernel=3):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, kernel, padding=kernel // 2),
            nn.BatchNorm2d(channels),
            nn.Hardswish(),
        )

    def forward(self, x):
        return x + self.body(x)


class Model(nn.Module):
    """Two residual blocks, then the spread over the plane."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = Block(channels)
        self.second = Block(channels, kernel=5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        image = self.second(self.first(image))
        return image.flatten(2).std(dim=-1)


def get_inputs():
    return [torch.randn(16, 32, 56, 56)]


def get_init_inputs():
    return [32]
'''

_ATTENTION = """
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads = heads

    def split(self, x):
        b, t, w = x.shape
        return x.reshape(b, t, self.heads, w // self.heads).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = (self.split(part) for part in self.qkv(x).chunk(3, dim=-1))
        y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).flatten(2))


LENGTH = 256


def get_inputs():
    return [torch.randn(8, LENGTH, 512), torch.zeros(LENGTH, LENGTH).triu(1).bool().logical_not()]


def get_init_inputs():
    return [512, 8]
"""

TASKS = {
    "gated": Subject("gated", ("nn.GroupNorm", "nn.Linear", "F.silu", "torch.einsum"), _GATED, None),
    "convolution": Subject("convolution", ("nn.Conv2d", "nn.BatchNorm2d", "nn.Hardswish", "torch.std"), _CONVOLUTION, None),
    "attention": Subject("attention", ("nn.Linear", "F.scaled_dot_product_attention", "nn.Linear"), _ATTENTION, None),
    "chain": Subject(
        "chain",
        ("nn.Linear", "nn.LayerNorm", "F.gelu", "torch.cumsum"),
        framed(
            "self.fc = nn.Linear(width, 128)\n        self.norm = nn.LayerNorm(128)",
            "return torch.cumsum(F.gelu(self.norm(self.fc(x))), dim=1)",
        ),
        None,
    ),
    "pair": Subject(
        "pair", ("nn.Linear", "nn.Mish"), framed("self.fc = nn.Linear(width, 300)", "return F.mish(self.fc(x))"), None
    ),
    "functions": Subject(
        "functions",
        ("torch.logsumexp", "torch.sin", "torch.cumsum"),
        framed(
            "self.weight = nn.Parameter(torch.rand(width))",
            "y = torch.sin(x * self.weight)\n        z = y.cumsum(0)\n        return (z - y).logsumexp(-1)",
        ),
        None,
    ),
}
