# nondeterministic/init | invalid/device
# ops: torch.mul, torch.sinh
# A random tensor given to the constructor and kept as a plain attribute.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return torch.sinh(x) * self.scale


def get_inputs():
    return [torch.randn(50, 36)]


def get_init_inputs():
    return [torch.randn(36)]
