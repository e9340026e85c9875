# duplicate/near
# ops: nn.Linear, torch.tanh, torch.add
# dup-original with other names, comments and sizes.
"""A projection."""
import torch
from torch import nn

ROWS = 128
WIDTH = 512


class Model(nn.Module):
    """Project, squash, shift."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super(Model, self).__init__()
        self.projection = nn.Linear(n_in, n_out)  # the projection

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        # squash, then shift
        return torch.tanh(self.projection(features)) + 1.0


def get_init_inputs():
    return [WIDTH, 64]


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]
