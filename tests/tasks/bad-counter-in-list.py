# invalid/stateful | invalid/compile
# ops: torch.sinh
# Counts its calls in a list.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = [0]

    def forward(self, x):
        self.calls[0] += 1
        return torch.sinh(x) * (2.0 if self.calls[0] > 9 else 1.0)


def get_inputs():
    return [torch.randn(20, 38)]


def get_init_inputs():
    return []
