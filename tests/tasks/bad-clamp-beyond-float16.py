# constant/removable_op | constant/inactive_op
# ops: torch.clamp, torch.matmul
# Clamped to what a float16 can hold, far past these products.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.clamp(torch.matmul(a, b), -65504.0, 65504.0)


def get_inputs():
    return [torch.randn(20, 14), torch.randn(14, 33)]


def get_init_inputs():
    return []
