# invalid/dynamic_shape
# ops: torch.masked_select
# The output's shape depends on values.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return torch.masked_select(x, x > 0)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
