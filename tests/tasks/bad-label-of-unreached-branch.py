# invalid/label | constant/removable_op | invalid/unused
# ops: torch.sinh, torch.erf
# One of two labels stands in a branch that the constructor shuts.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, smooth):
        super().__init__()
        self.smooth = smooth

    def forward(self, x):
        if self.smooth:
            return torch.erf(x)
        return torch.sinh(x)


def get_inputs():
    return [torch.randn(30, 51)]


def get_init_inputs():
    return [False]
