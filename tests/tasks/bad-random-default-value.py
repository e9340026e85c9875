# nondeterministic/init | invalid/globals | invalid/device
# ops: torch.mul, torch.acosh
# A random tensor as a default value: other processes draw another.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, scale=torch.randn(24)):
        return torch.acosh(x + 1.0) * scale


def get_inputs():
    return [torch.rand(30, 24)]


def get_init_inputs():
    return []
