# invalid/structure
# ops: torch.sinh
# get_inputs returns a dict.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sinh(x)


def get_inputs():
    return {"x": torch.randn(30, 47)}


def get_init_inputs():
    return []
