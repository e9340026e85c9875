# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: F.pad, torch.tanh
# What is padded is cut off again.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = F.pad(x, (2, 2))
        return torch.tanh(y[:, 2:-2])


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
