# keep
# ops: torch.matmul, F.softsign
# flags: aliased_inputs
# One tensor for three arguments: kept, and flagged.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b, c):
        return torch.matmul(F.softsign(torch.matmul(a, b.transpose(1, 2))), c)


def get_inputs():
    x = torch.randn(3, 10, 16)
    return [x, x, x]


def get_init_inputs():
    return []
