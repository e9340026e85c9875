# keep
# ops: torch.cummax, torch.logcumsumexp
# Cumulative operators along an axis; the running maximum comes as a named tuple and only its values are returned.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.cummax(x, dim=1).values, torch.logcumsumexp(x, dim=1)


def get_inputs():
    return [torch.randn(12, 35)]


def get_init_inputs():
    return []
