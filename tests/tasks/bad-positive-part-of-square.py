# constant/removable_op
# ops: torch.square, nn.Softshrink, nn.ReLU
# The positive part of squares.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, cut):
        super().__init__()
        self.shrink = nn.Softshrink(cut)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.shrink(self.act(torch.square(x)))


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return [0.3]
