# invalid/label
# ops: nn.Softmax2d, torch.sinh
# The label takes softmax over channels, the code over the last axis.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.softmax(torch.sinh(x), dim=-1)


def get_inputs():
    return [torch.randn(3, 5, 8, 9)]


def get_init_inputs():
    return []
