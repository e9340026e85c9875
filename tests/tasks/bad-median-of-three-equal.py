# constant/removable_op
# ops: torch.median, torch.stack, torch.sin
# The median of copies.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sin(torch.median(torch.stack([x, x, x]), dim=0).values)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
