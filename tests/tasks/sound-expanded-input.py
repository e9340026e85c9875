# keep
# ops: torch.atan2
# One row lent to all others: the input's memory overlaps itself.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.atan2(a, b)


def get_inputs():
    return [torch.randn(1, 40).expand(26, 40), torch.randn(26, 40)]


def get_init_inputs():
    return []
