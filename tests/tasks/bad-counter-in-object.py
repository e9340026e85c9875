# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.tanh, torch.exp2
# Counts its calls in an object that is no module.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Count:
    def __init__(self):
        self.n = 0

    def step(self):
        self.n = self.n + 1
        return self.n


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = Count()

    def forward(self, x):
        return torch.tanh(torch.exp2(x)) * (2.0 if self.count.step() > 90 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
