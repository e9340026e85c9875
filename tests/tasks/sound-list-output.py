# keep
# ops: F.max_pool1d, F.avg_pool1d
# A list of two tensors of the same shape.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return [F.max_pool1d(x, 5, stride=2), F.avg_pool1d(x, 5, stride=2)]


def get_inputs():
    return [torch.randn(6, 7, 41)]


def get_init_inputs():
    return []
