# invalid/non_finite
# ops: torch.exp
# exp(12) is past the end of float16.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.exp(x * 6.0)


def get_inputs():
    return [torch.randn(30, 38).half()]


def get_init_inputs():
    return []
