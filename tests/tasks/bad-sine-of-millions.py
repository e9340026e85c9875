# invalid/ill_conditioned
# ops: torch.sin, torch.mul
# One rounding of the argument turns the sine by half a circle.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sin(torch.mul(x, 1e7))


def get_inputs():
    return [torch.randn(30, 39)]


def get_init_inputs():
    return []
