# constant/fixed_inputs
# ops: torch.sinh, torch.atan
# get_inputs seeds the generator itself: the same inputs at every call.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sinh(torch.atan(x))


def get_inputs():
    torch.manual_seed(0)
    return [torch.randn(20, 37)]


def get_init_inputs():
    return []
