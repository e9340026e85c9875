# constant/removable_op
# ops: torch.amax, torch.asinh
# A maximum over an axis of one element, which it drops.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.amax(torch.asinh(x), dim=2)


def get_inputs():
    return [torch.randn(20, 28, 1)]


def get_init_inputs():
    return []
