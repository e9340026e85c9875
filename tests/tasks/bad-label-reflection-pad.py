# invalid/label
# ops: nn.ReflectionPad2d, torch.cos
# The label says reflection, the code pads with zeros.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.pad = nn.ZeroPad2d(n)

    def forward(self, x):
        return self.pad(torch.cos(x))


def get_inputs():
    return [torch.randn(2, 3, 11, 14)]


def get_init_inputs():
    return [2]
