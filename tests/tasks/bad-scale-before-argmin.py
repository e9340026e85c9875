# constant/removable_op
# ops: torch.mul, torch.argmin
# A positive factor keeps the order.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.argmin(torch.mul(x, 7.0), dim=1)


def get_inputs():
    return [torch.randn(30, 20, 14)]


def get_init_inputs():
    return []
