# invalid/structure
# ops: torch.sin
# forward is given a number and no tensor.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d))

    def forward(self, n):
        return torch.sin(self.weight * n)


def get_inputs():
    return [3]


def get_init_inputs():
    return [40]
