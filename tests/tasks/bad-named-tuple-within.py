# invalid/output_type
# ops: torch.max, torch.sinh
# A named tuple within a tuple.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sinh(x), torch.max(x, dim=-1)


def get_inputs():
    return [torch.randn(3, 30, 15)]


def get_init_inputs():
    return []
