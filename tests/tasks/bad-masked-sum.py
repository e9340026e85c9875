# invalid/compile | invalid/dynamic_shape
# ops: torch.masked_select, torch.std
# The output has one element, what it is made of as many as are positive.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, m):
        return torch.masked_select(x, m).std()


def get_inputs():
    return [torch.randn(6, 8), torch.rand(6, 8) > 0.5]


def get_init_inputs():
    return []
