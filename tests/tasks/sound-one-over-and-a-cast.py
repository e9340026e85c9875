# keep
# ops: torch.erf, torch.argsort, torch.abs
# One over a tensor is its reciprocal, nought minus it its negative, and an integer times 1.0 a cast.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        places = torch.argsort(x, dim=1) * 1.0
        return torch.erf(0 - 1 / (x.abs() + 0.5)) + places


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []
