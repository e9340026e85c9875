# keep
# ops: F.conv2d, F.group_norm
# Weights, bias and scales all come as arguments.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, weight, bias, scale):
        return F.group_norm(F.conv2d(x, weight, bias, stride=2, padding=1), 2, weight=scale)


def get_inputs():
    return [torch.randn(2, 4, 13, 12), torch.randn(8, 4, 3, 3) * 0.3, torch.randn(8), torch.rand(8) + 0.5]


def get_init_inputs():
    return []
