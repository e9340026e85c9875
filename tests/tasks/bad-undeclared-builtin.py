# invalid/label
# ops: torch.sinh
# Python's abs and pow are operators of torch by other names.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sinh(abs(x) * 0.5 - 1.0)


def get_inputs():
    return [torch.randn(20, 35)]


def get_init_inputs():
    return []
