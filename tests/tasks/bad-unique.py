# invalid/dynamic_shape
# ops: torch.unique
# As many elements as there are different ones.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.unique(x)


def get_inputs():
    return [torch.randint(0, 200, (120,))]


def get_init_inputs():
    return []
