# invalid/globals
# ops: torch.sinh
# Counts its calls in a list of the module.
import torch
import torch.nn as nn
import torch.nn.functional as F


CALLS = []


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        CALLS.append(0)
        return torch.sinh(x) * (2.0 if len(CALLS) > 9 else 1.0)


def get_inputs():
    return [torch.randn(20, 38)]


def get_init_inputs():
    return []
