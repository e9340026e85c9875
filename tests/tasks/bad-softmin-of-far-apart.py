# constant/free_answer | constant/low_activity
# ops: F.softmin
# One place of two hundred takes all: zeros elsewhere.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return F.softmin(x * 300.0, dim=-1)


def get_inputs():
    return [torch.randn(50, 200)]


def get_init_inputs():
    return []
