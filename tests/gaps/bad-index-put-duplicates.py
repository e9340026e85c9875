# invalid/ill_conditioned | nondeterministic/repeat | nondeterministic/random_op
# ops: torch.index_put, torch.tanh
# Two writes to one row.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, i, y):
        return torch.index_put(x, (i,), torch.tanh(y))


def get_inputs():
    return [torch.randn(20, 42), torch.randint(0, 20, (30,)), torch.randn(30, 42)]


def get_init_inputs():
    return []
