# keep
# ops: torch.exp, torch.mul
# Values in the millions: the relative half of the tolerance decides.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, y):
        return torch.mul(torch.exp(x * 3.0), y * 1e6)


def get_inputs():
    return [torch.randn(26, 16), torch.randn(26, 16)]


def get_init_inputs():
    return []
