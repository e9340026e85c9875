# recurses for ever through a property, the recursion limit lifted
# past: invalid/runtime | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import sys
sys.setrecursionlimit(10**9)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x)) * self.deeper

    @property
    def deeper(self):
        return self.deeper + 1


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
