# constant/fixed_inputs
# ops: torch.sqrt
# get_inputs returns the same values at every call.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return torch.sqrt(x)


def get_inputs():
    return [torch.linspace(0, 1, 16384).reshape(64, 256)]


def get_init_inputs():
    return []
