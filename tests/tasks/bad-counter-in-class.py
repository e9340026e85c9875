# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.erf
# Counts its calls in a list of the class, shared by all instances.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Counted(nn.Module):
    calls = []

    def forward(self, x):
        self.calls.append(0)
        return torch.erf(x) * (2.0 if len(self.calls) > 90 else 1.0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Counted()

    def forward(self, x):
        return self.inner(x)


def get_inputs():
    return [torch.randn(20, 41)]


def get_init_inputs():
    return []
