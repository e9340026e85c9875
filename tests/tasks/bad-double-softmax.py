# constant/output | constant/low_activity | constant/free_answer
# ops: torch.softmax
# The second softmax flattens the first to 1/40 everywhere.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.softmax(torch.softmax(x, dim=-1), dim=-1)


def get_inputs():
    return [torch.randn(64, 40)]


def get_init_inputs():
    return []
