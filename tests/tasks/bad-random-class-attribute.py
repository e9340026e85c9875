# nondeterministic/init | invalid/globals | invalid/device
# ops: torch.matmul, torch.erf
# A random tensor in the class body: other processes draw another.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Projection(nn.Module):
    weight = torch.randn(21, 27)

    def forward(self, x):
        return torch.matmul(x, self.weight.to(x.device))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = Projection()

    def forward(self, x):
        return torch.erf(self.project(x))


def get_inputs():
    return [torch.randn(5, 30, 21)]


def get_init_inputs():
    return []
