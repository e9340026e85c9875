# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: F.interpolate, F.max_pool2d, torch.tanh
# Doubled and pooled back.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.tanh(F.max_pool2d(F.interpolate(x, scale_factor=2, mode='nearest'), 2))


def get_inputs():
    return [torch.randn(2, 3, 9, 14)]


def get_init_inputs():
    return []
