# invalid/label
# ops: torch.tanh
# A helper function computes what no label names.
import torch
import torch.nn as nn
import torch.nn.functional as F


def running(x):
    return torch.cumsum(x, dim=-1) * 0.1


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.tanh(running(x))


def get_inputs():
    return [torch.randn(30, 47)]


def get_init_inputs():
    return []
