# invalid/stateful | invalid/compile
# ops: torch.atan
# Counts its calls under a private name and changes after the ninth.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self._calls = 0

    def forward(self, x):
        self._calls += 1
        return torch.atan(x) * (2.0 if self._calls > 9 else 1.0)


def get_inputs():
    return [torch.randn(20, 40)]


def get_init_inputs():
    return []
