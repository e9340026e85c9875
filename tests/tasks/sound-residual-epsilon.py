# keep
# ops: torch.add, torch.div, torch.sqrt, torch.mean
# The epsilon that guards a division can go unseen; the residual sum of the same operator cannot.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, residual):
        size = torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True))
        return torch.add(x / (size + 1e-6), residual)


def get_inputs():
    return [torch.randn(36, 44) * 3.0, torch.randn(36, 44)]


def get_init_inputs():
    return []
