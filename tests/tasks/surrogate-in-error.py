# invalid/runtime
# ops: torch.tanh
# An exception whose text no file can hold.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        if x.dim() == 2:
            raise ValueError("\ud800 bad")
        return torch.tanh(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
