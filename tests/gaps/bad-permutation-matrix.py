# constant/removable_op
# ops: torch.matmul, torch.sin
# A product with a permutation.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('p', torch.eye(42).flip(0))

    def forward(self, x):
        return torch.sin(torch.matmul(x, self.p))


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
