# invalid/unused
# ops: torch.exp, torch.neg
# The exponential is overwritten before it is used.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        y = torch.exp(x)
        y = torch.neg(x)
        return y


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
