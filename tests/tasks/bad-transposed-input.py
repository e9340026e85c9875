# constant/identity
# ops: torch.transpose
# The transposed input is a view of the input.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.transpose(x, 0, 1)


def get_inputs():
    return [torch.randn(50, 46)]


def get_init_inputs():
    return []
