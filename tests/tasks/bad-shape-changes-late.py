# invalid/structure
# ops: torch.erf, torch.cosh
# The third call draws one row less.
import torch
import torch.nn as nn
import torch.nn.functional as F


CALLS = []


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.cosh(torch.erf(x))


def get_inputs():
    CALLS.append(0)
    return [torch.randn(30 - len(CALLS) // 3, 41)]


def get_init_inputs():
    return []
