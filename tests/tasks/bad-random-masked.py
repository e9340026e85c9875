# nondeterministic/random_op
# ops: torch.rand_like, torch.clamp, torch.sinh
# Random numbers are drawn and clamped away.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sinh(x) + torch.clamp(-torch.rand_like(x), min=0.0)


def get_inputs():
    return [torch.randn(30, 42)]


def get_init_inputs():
    return []
