# invalid/ill_conditioned | nondeterministic/repeat | nondeterministic/random_op
# ops: torch.cummax, torch.round
# Rounded: which of equal?
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.cummax(torch.round(x), dim=-1).indices


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
