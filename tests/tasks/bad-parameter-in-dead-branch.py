# invalid/unused
# ops: torch.sinh
# A parameter that only training mode reads.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.shift = nn.Parameter(torch.randn(d))

    def forward(self, x):
        y = torch.sinh(x)
        if self.training:
            y = y + self.shift
        return y


def get_inputs():
    return [torch.randn(30, 18)]


def get_init_inputs():
    return [18]
