# invalid/stateful | nondeterministic/repeat | invalid/compile
# ops: torch.mul
# Counts its calls and changes after the third.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        return x * (1.0 if self.calls < 4 else 2.0)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
