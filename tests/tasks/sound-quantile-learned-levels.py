# keep
# ops: torch.quantile, torch.sub
# flags: shape_coupled
# Interpolated order statistics at levels of a buffer.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.register_buffer("levels", torch.tensor(levels))

    def forward(self, x):
        return torch.sub(torch.quantile(x, self.levels, dim=-1), x[:, 0])


def get_inputs():
    return [torch.randn(30, 21)]


def get_init_inputs():
    return [[0.1, 0.35, 0.8]]
