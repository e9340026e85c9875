# nondeterministic/init
# ops: torch.matmul
# A random buffer that the state dict leaves out.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.register_buffer("weight", torch.randn(i, o), persistent=False)

    def forward(self, x):
        return torch.matmul(x, self.weight)


def get_inputs():
    return [torch.randn(5, 30, 23)]


def get_init_inputs():
    return [23, 29]
