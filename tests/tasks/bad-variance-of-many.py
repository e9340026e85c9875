# constant/output | constant/low_activity | constant/free_answer
# ops: torch.var
# The variance of a million normals is one.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.var(x, dim=(1, 2))


def get_inputs():
    return [torch.randn(3, 1024, 512)]


def get_init_inputs():
    return []
