# invalid/label
# ops: nn.GELU, nn.Linear
# A class named GELU that doubles.
import torch
import torch.nn as nn
import torch.nn.functional as F


class GELU(nn.Module):
    def forward(self, x):
        return x * 2.0 + 1.0


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.act = GELU()

    def forward(self, x):
        return self.act(self.lin(x))


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return [42]
