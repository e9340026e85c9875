# constant/removable_op
# ops: torch.linalg.vector_norm, torch.abs
# A norm is not negative.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.abs(torch.linalg.vector_norm(x, dim=-1))


def get_inputs():
    return [torch.randn(21, 33, 5)]


def get_init_inputs():
    return []
