# invalid/label
# ops: nn.Linear, F.softmax
# A function kept in a linear layer, never called.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.lin.act = F.softmax

    def forward(self, x):
        return self.lin(x)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return [42]
