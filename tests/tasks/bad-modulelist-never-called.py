# invalid/unused
# ops: torch.sin, nn.Linear
# A list of layers that forward never touches.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(3)])

    def forward(self, x):
        return torch.sin(x)


def get_inputs():
    return [torch.randn(30, 16)]


def get_init_inputs():
    return [16]
