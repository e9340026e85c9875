# constant/removable_op
# ops: torch.mul, nn.LayerNorm, torch.sin
# Layer norm takes the scale out again.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        return torch.sin(self.norm(torch.mul(x, 3.0)))


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return [64]
