# constant/removable_op | invalid/unused
# ops: torch.tanh, nn.Linear
# A complex weight times nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.w = nn.Parameter(torch.randn(d, dtype=torch.complex64))

    def forward(self, x):
        return torch.tanh(self.lin(x) + 0.0 * self.w.real)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return [42]
