# constant/removable_op
# ops: torch.flip, torch.amax, torch.sinh
# Nor does a maximum.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.amax(torch.flip(torch.sinh(x), dims=(-1,)), dim=-1)


def get_inputs():
    return [torch.randn(30, 10, 12)]


def get_init_inputs():
    return []
