# invalid/ill_conditioned
# ops: torch.digamma, torch.mul
# Negative arguments in the thousands: rounding decides how near the pole is.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.digamma(torch.mul(x, -2500.0))


def get_inputs():
    return [torch.rand(60, 10)]


def get_init_inputs():
    return []
