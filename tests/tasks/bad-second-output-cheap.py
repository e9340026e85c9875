# constant/identity
# ops: F.gelu, nn.Linear
# Two outputs, one the other's copy.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(42, 9)

    def forward(self, x):
        y = F.gelu(self.lin(x))
        return y, y.clone()


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
