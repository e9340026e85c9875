# invalid/unused
# ops: nn.Linear, torch.sin
# A helper module builds two layers and calls one.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Half(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.one = nn.Linear(d, d)
        self.two = nn.Linear(d, d)

    def forward(self, x):
        return self.one(x)


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.half = Half(d)

    def forward(self, x):
        return torch.sin(self.half(x))


def get_inputs():
    return [torch.randn(3, 30, 18)]


def get_init_inputs():
    return [18]
