# invalid/dynamic_shape
# ops: torch.nonzero
# As many rows as there are positive numbers.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.nonzero(x > 0.0)


def get_inputs():
    return [torch.randn(20, 49)]


def get_init_inputs():
    return []
