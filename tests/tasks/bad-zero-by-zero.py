# invalid/non_finite
# ops: torch.div, F.relu
# Half of the elements are zero by zero.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = F.relu(x)
        return torch.div(y, y)


def get_inputs():
    return [torch.randn(30, 37)]


def get_init_inputs():
    return []
