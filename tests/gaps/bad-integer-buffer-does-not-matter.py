# invalid/unused
# ops: F.hardswish, nn.Conv1d
# An integer buffer times nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv1d(8, 8, 3, padding=1)
        self.register_buffer('places', torch.arange(30))

    def forward(self, x):
        return F.hardswish(self.c(x) + 0 * self.places)


def get_inputs():
    return [torch.randn(2, 8, 30)]


def get_init_inputs():
    return []
