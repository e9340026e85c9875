# constant/dead_input
# ops: torch.cosh, F.pad
# Of its second argument forward takes the length and nothing else.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, like):
        return F.pad(torch.cosh(x), (0, like.shape[-1] - x.shape[-1]))


def get_inputs():
    return [torch.randn(30, 40), torch.randn(30, 48)]


def get_init_inputs():
    return []
