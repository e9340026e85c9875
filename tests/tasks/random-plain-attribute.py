# nondeterministic/init
# ops: torch.mul, torch.tanh
# A random tensor outside the state dict: a second instance that loads the weights still differs.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = torch.randn(n)
    def forward(self, x):
        return torch.tanh(x * self.w.to(x))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256]
