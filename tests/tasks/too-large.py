# out_of_range/memory
# ops: torch.tanh
# Two terabytes of input: found by arithmetic, before anything is allocated.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return torch.tanh(x)


def get_inputs():
    return [torch.randn(8192, 8192, 8192)]


def get_init_inputs():
    return []
