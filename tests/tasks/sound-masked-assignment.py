# keep
# ops: torch.sinh
# Elements picked by a mask are overwritten in place: the shape stays.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = torch.sinh(x)
        y[y > 1.5] = -1.0
        return y


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
