# constant/removable_op | constant/inactive_op
# ops: torch.where, torch.sinh, torch.cos
# A cosine is never greater than two: one branch is never taken.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.where(torch.cos(x) < 2.0, torch.sinh(x), -x)


def get_inputs():
    return [torch.randn(20, 31)]


def get_init_inputs():
    return []
