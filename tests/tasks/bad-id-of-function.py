# unsafe/code
# ops: torch.tanh, torch.exp2
# An address decides a factor.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 1.0 + (id(torch.tanh) // 4096) % 7

    def forward(self, x):
        return torch.tanh(torch.exp2(x) * self.k)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
