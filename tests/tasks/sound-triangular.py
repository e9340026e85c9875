# keep
# ops: torch.matmul, torch.tril
# Half of the result is zero by nature.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.tril(torch.matmul(a, b.transpose(-1, -2)))


def get_inputs():
    return [torch.randn(4, 22, 13), torch.randn(4, 22, 13)]


def get_init_inputs():
    return []
