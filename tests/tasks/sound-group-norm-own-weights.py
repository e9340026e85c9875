# keep
# ops: nn.GroupNorm, nn.ConvTranspose1d, torch.sin
# Group norm with weights of its own between two other operators.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up = nn.ConvTranspose1d(5, c, 4, stride=3)
        self.norm = nn.GroupNorm(3, c)
        nn.init.normal_(self.norm.weight, 1.0, 0.4)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return torch.sin(self.norm(self.up(x)))


def get_inputs():
    return [torch.randn(4, 5, 30)]


def get_init_inputs():
    return [12]
