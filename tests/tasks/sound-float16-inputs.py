# keep
# ops: torch.matmul, F.silu
# Half precision throughout, far from its limits.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return F.silu(torch.matmul(a, b) * 0.25)


def get_inputs():
    return [torch.randn(5, 18, 32).half(), torch.randn(5, 32, 26).half()]


def get_init_inputs():
    return []
