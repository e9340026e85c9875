# out_of_range/too_fast
# ops: torch.tanh
# window: true
# Sixteen numbers.
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
    return [torch.randn(16)]


def get_init_inputs():
    return []
