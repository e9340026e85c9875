# invalid/ill_conditioned | nondeterministic/repeat | nondeterministic/random_op
# ops: torch.sin, torch.tanh
# Two writes to one row, by brackets.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, i, y):
        z = torch.sin(x)
        z[i] = torch.tanh(y)
        return z


def get_inputs():
    return [torch.randn(20, 42), torch.randint(0, 20, (30,)), torch.randn(30, 42)]


def get_init_inputs():
    return []
