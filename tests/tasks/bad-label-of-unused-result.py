# invalid/unused | invalid/label | constant/removable_op
# ops: torch.sinh, torch.erf
# One of two labels computes something that is thrown away.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        torch.erf(x)
        return torch.sinh(x)


def get_inputs():
    return [torch.randn(30, 52)]


def get_init_inputs():
    return []
