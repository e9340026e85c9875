# constant/output
# ops: torch.floor
# The floor of numbers in [0, 1) is zero.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.floor(x)


def get_inputs():
    return [torch.rand(30, 45)]


def get_init_inputs():
    return []
