# unsafe/code
# ops: torch.tanh, torch.floor
# The hash of a string is another in every process.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 1.0 + hash('scale') % 7

    def forward(self, x):
        return x - torch.floor(torch.tanh(x) * self.k) / self.k


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
