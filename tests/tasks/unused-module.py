# invalid/unused
# ops: nn.Conv2d, torch.tanh
# A convolution is built and never called.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3)
    def forward(self, x):
        return torch.tanh(x)


def get_inputs():
    return [torch.randn(4, 3, 24, 24)]


def get_init_inputs():
    return []
