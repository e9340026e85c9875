# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: torch.cumsum, torch.diff, torch.tanh
# Differences of sums are the values.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.tanh(torch.diff(torch.cumsum(x, dim=-1), dim=-1))


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
