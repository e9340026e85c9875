# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.tanh, torch.exp2
# Counts its calls where the walk may not look.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = [0] * 1500

    def forward(self, x):
        self.seen[1200] += 1
        return torch.tanh(torch.exp2(x)) * (2.0 if self.seen[1200] > 90 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
