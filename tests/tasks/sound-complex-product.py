# keep
# ops: torch.mul, torch.view_as_complex, torch.view_as_real, torch.sin
# Pairs of numbers multiplied as complex ones.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.view_as_real(torch.view_as_complex(a) * torch.view_as_complex(torch.sin(b))).flatten(1)


def get_inputs():
    return [torch.randn(20, 13, 2), torch.randn(20, 13, 2)]


def get_init_inputs():
    return []
