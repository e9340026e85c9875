# constant/removable_op | invalid/unused
# ops: nn.Linear, torch.tanh
# Of 512 columns one is kept.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, 512)

    def forward(self, x):
        return torch.tanh(self.lin(x)[:, :1])


def get_inputs():
    return [torch.randn(64, 42)]


def get_init_inputs():
    return [42]
