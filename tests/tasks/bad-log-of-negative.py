# invalid/non_finite
# ops: torch.log, torch.sub
# The logarithm of numbers of which half are negative.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.log(torch.sub(x, 0.5))


def get_inputs():
    return [torch.rand(50, 38)]


def get_init_inputs():
    return []
