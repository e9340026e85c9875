# constant/output | invalid/output_type
# ops: torch.sinh, torch.cosh
# The second output has no element.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sinh(x), torch.cosh(x)[:0]


def get_inputs():
    return [torch.randn(20, 36)]


def get_init_inputs():
    return []
