# keep
# ops: torch.mul, torch.cumsum
# A random buffer registered as a buffer is in the state dict, so two instances can be matched.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer('w', torch.randn(n))
    def forward(self, x):
        return torch.cumsum(x * self.w, dim=-1)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256]
