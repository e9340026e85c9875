# keep
# ops: nn.Conv1d, nn.Hardsigmoid
# Groups, dilation and a gate.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.depth = nn.Conv1d(c, c, 5, groups=c, dilation=2)
        self.point = nn.Conv1d(c, c, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x):
        y = self.depth(x)
        return y * self.gate(self.point(y) * 4.0)


def get_inputs():
    return [torch.randn(3, 10, 30)]


def get_init_inputs():
    return [10]
