# invalid/unused | constant/removable_op
# ops: torch.sinh
# A parameter is multiplied by zero; no label names the product.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d))

    def forward(self, x):
        return torch.sinh(x) + self.weight * 0.0


def get_inputs():
    return [torch.randn(20, 35)]


def get_init_inputs():
    return [35]
