# keep
# ops: torch.mul, torch.cumsum
# A half, an integer and a float meet; the output is promoted.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b, c):
        return torch.cumsum(torch.mul(a, b), dim=-1) + c


def get_inputs():
    return [torch.randn(20, 15).half(), torch.randint(-4, 5, (20, 15)), torch.randn(20, 1)]


def get_init_inputs():
    return []
