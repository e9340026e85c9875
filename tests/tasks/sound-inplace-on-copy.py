# keep
# ops: torch.sinh, nn.Conv1d
# Writes into a clone of its argument.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv1d(c, c, 3)

    def forward(self, x):
        y = x.clone()
        y[:, :, 1:-1] = self.conv(x)
        return torch.sinh(y)


def get_inputs():
    return [torch.randn(3, 6, 19)]


def get_init_inputs():
    return [6]
