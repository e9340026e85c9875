# constant/removable_op
# ops: F.max_pool2d, F.max_unpool2d, torch.abs, torch.sin
# Pooled, unpooled, pooled.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y, at = F.max_pool2d(torch.abs(x), 2, return_indices=True)
        return torch.sin(F.max_pool2d(F.max_unpool2d(y, at, 2), 2))


def get_inputs():
    return [torch.randn(2, 3, 8, 12)]


def get_init_inputs():
    return []
