# constant/removable_op
# ops: torch.roll, torch.mean, torch.cosh
# A mean does not ask where its numbers stand.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.mean(torch.roll(torch.cosh(x), 3, dims=-1), dim=-1)


def get_inputs():
    return [torch.randn(20, 5, 12)]


def get_init_inputs():
    return []
