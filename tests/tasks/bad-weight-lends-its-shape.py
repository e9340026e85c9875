# invalid/unused | constant/removable_op
# ops: torch.sinh
# Zeros of a parameter's shape are all that is used of it.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d))

    def forward(self, x):
        return torch.sinh(x + torch.zeros_like(self.weight))


def get_inputs():
    return [torch.randn(20, 34)]


def get_init_inputs():
    return [34]
