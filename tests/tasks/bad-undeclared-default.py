# invalid/label
# ops: torch.cosh
# A default value of forward is an operator.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, act=torch.atan):
        return torch.cosh(act(x) * 2.0)


def get_inputs():
    return [torch.randn(20, 38)]


def get_init_inputs():
    return []
