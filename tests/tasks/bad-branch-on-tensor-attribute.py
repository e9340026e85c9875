# invalid/compile
# ops: torch.sinh, torch.asinh
# Which operator runs is an element of a buffer.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, flag):
        super().__init__()
        self.register_buffer("flag", torch.tensor(flag))

    def forward(self, x):
        if self.flag:
            return torch.sinh(x)
        return torch.asinh(x)


def get_inputs():
    return [torch.randn(20, 50)]


def get_init_inputs():
    return [True]
