# constant/removable_op
# ops: torch.exp, torch.cumsum, torch.sort
# Running sums of positive numbers are in order already.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sort(torch.cumsum(torch.exp(x), dim=-1), dim=-1).values


def get_inputs():
    return [torch.randn(20, 36)]


def get_init_inputs():
    return []
