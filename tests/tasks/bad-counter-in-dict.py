# invalid/stateful | invalid/compile
# ops: torch.asinh
# Counts its calls in a dict.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {"calls": 0}

    def forward(self, x):
        self.seen["calls"] += 1
        return torch.asinh(x) * (2.0 if self.seen["calls"] > 9 else 1.0)


def get_inputs():
    return [torch.randn(20, 39)]


def get_init_inputs():
    return []
