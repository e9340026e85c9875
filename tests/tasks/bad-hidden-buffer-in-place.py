# invalid/stateful
# ops: torch.lerp, torch.mean, torch.sin
# A running average that forward moves on.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.register_buffer("average", torch.zeros(d))

    def forward(self, x):
        self.average.lerp_(x.mean(dim=0), 0.1)
        return torch.sin(x) - self.average


def get_inputs():
    return [torch.randn(20, 37)]


def get_init_inputs():
    return [37]
