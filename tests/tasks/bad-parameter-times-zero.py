# constant/removable_op
# ops: torch.mul, torch.sinh
# A parameter that is read and multiplied by zero.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.shift = nn.Parameter(torch.randn(d))

    def forward(self, x):
        return torch.sinh(x) + torch.mul(self.shift, 0.0)


def get_inputs():
    return [torch.randn(30, 19)]


def get_init_inputs():
    return [19]
