# constant/output | constant/low_activity
# ops: torch.sinh
# The same ramp at every call, give or take a ten-thousandth.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sinh(x)


def get_inputs():
    return [torch.linspace(-2.0, 2.0, 40) + torch.randn(20, 40) * 1e-4]


def get_init_inputs():
    return []
