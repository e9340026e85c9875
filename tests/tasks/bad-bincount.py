# invalid/dynamic_shape
# ops: torch.bincount
# As many bins as the largest number says.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.bincount(x)


def get_inputs():
    return [torch.randint(0, 50, (400,))]


def get_init_inputs():
    return []
