# keep
# ops: torch.clamp, nn.Bilinear
# The clamp moves a few elements in a hundred: little, but seen.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, a, b, o):
        super().__init__()
        self.mix = nn.Bilinear(a, b, o)

    def forward(self, x, y):
        return torch.clamp(self.mix(x, y), -3.5, 3.5)


def get_inputs():
    return [torch.randn(64, 12), torch.randn(64, 9)]


def get_init_inputs():
    return [12, 9, 24]
