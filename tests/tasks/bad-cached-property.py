# invalid/stateful | unsafe/code | invalid/compile
# ops: torch.tanh, torch.matmul
# What it makes of its weight is made at the first call and kept.
import torch
import torch.nn as nn
import torch.nn.functional as F


from functools import cached_property


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(i, o))

    @cached_property
    def bent(self):
        return torch.tanh(self.weight)

    def forward(self, x):
        return torch.matmul(x, self.bent)


def get_inputs():
    return [torch.randn(5, 20, 14)]


def get_init_inputs():
    return [14, 23]
