# invalid/ill_conditioned | nondeterministic/repeat | nondeterministic/random_op
# ops: F.relu, F.max_pool2d
# Windows of zeros: which place?
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y, at = F.max_pool2d(F.relu(x), 2, return_indices=True)
        return y, at


def get_inputs():
    return [torch.randn(2, 3, 16, 16)]


def get_init_inputs():
    return []
