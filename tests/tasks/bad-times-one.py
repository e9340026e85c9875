# constant/removable_op
# ops: torch.erf, torch.mul
# The other product matters, this one does not.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch.erf(x * 1.0) * self.weight


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return [128]
