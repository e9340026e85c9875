# invalid/label
# ops: torch.cosh
# Handed to map, an operator is not called by name.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        left, right = map(torch.atan, (a, b))
        return torch.cosh(left - right)


def get_inputs():
    return [torch.randn(20, 37), torch.randn(20, 37)]


def get_init_inputs():
    return []
