# constant/removable_op
# ops: torch.neg, torch.sinh
# Negated and negated again.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.neg(torch.neg(torch.sinh(x)))


def get_inputs():
    return [torch.randn(20, 32)]


def get_init_inputs():
    return []
