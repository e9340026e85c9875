# invalid/output_type
# ops: torch.erf, torch.sinh, torch.atan
# A list within a list.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return [torch.erf(x), [torch.sinh(x), torch.atan(x)]]


def get_inputs():
    return [torch.randn(30, 35)]


def get_init_inputs():
    return []
