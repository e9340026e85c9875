# invalid/ill_conditioned | nondeterministic/repeat | nondeterministic/random_op
# ops: F.adaptive_max_pool2d, torch.round
# Rounded: which of equal?
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return F.adaptive_max_pool2d(torch.round(x), 4, return_indices=True)[1]


def get_inputs():
    return [torch.randn(2, 3, 16, 16)]


def get_init_inputs():
    return []
