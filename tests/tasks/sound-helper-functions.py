# keep
# ops: torch.tanh, torch.sigmoid, nn.Conv1d
# Helper functions at the top level, one calling the other.
import torch
import torch.nn as nn
import torch.nn.functional as F


def halves(x):
    return x.chunk(2, dim=1)


def gated(x):
    content, gate = halves(x)
    return torch.tanh(content) * torch.sigmoid(gate)


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv1d(7, 2 * c, 3, dilation=2)

    def forward(self, x):
        return gated(self.conv(x))


def get_inputs():
    return [torch.randn(3, 7, 40)]


def get_init_inputs():
    return [11]
