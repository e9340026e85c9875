# keep
# ops: torch.mv, torch.tanh
# One axis, twenty numbers.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, v):
        return torch.tanh(torch.mv(a, v) * 0.4)


def get_inputs():
    return [torch.randn(20, 6), torch.randn(6)]


def get_init_inputs():
    return []
