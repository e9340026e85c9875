# keep
# ops: torch.matmul, torch.clamp, torch.add
# In-place methods on a fresh tensor: no argument changes.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b, c):
        y = torch.matmul(a, b)
        y += c
        y.clamp_(-2.5, 4.0)
        return y


def get_inputs():
    return [torch.randn(21, 10), torch.randn(10, 22), torch.randn(22)]


def get_init_inputs():
    return []
