# keep
# ops: torch.where, torch.log
# The logarithm of negative numbers is NaN and never chosen.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.where(x > 0.0, torch.log(x), x)


def get_inputs():
    return [torch.randn(34, 29)]


def get_init_inputs():
    return []
