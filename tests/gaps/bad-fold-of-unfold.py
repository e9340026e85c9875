# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: F.fold, F.unfold, torch.tanh
# Blocks cut and put back.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.tanh(F.fold(F.unfold(x, 2, stride=2), (8, 12), 2, stride=2))


def get_inputs():
    return [torch.randn(2, 3, 8, 12)]


def get_init_inputs():
    return []
