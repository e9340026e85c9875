# invalid/device | nondeterministic/init
# ops: torch.add, torch.sinh
# Noise drawn into a plain tensor: on the CPU, and in no state dict.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.noise = torch.empty(d).uniform_(-1.0, 1.0)

    def forward(self, x):
        return torch.sinh(x) + self.noise


def get_inputs():
    return [torch.randn(50, 35)]


def get_init_inputs():
    return [35]
