# constant/output
# ops: torch.sigmoid, torch.square
# Everything is pushed past the end of the sigmoid.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sigmoid(torch.square(x) + 9.0)


def get_inputs():
    return [torch.randn(30, 44)]


def get_init_inputs():
    return []
