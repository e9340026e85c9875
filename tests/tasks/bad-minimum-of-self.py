# constant/removable_op
# ops: torch.minimum, torch.sinh
# The smaller of a number and itself plus one.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = torch.sinh(x)
        return torch.minimum(y, y + 1.0)


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return []
