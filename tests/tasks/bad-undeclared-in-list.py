# invalid/label
# ops: torch.cosh
# A list of functions applies what no label names.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = [torch.sin, torch.atan]

    def forward(self, x):
        for step in self.steps:
            x = step(x) * 2.0
        return torch.cosh(x)


def get_inputs():
    return [torch.randn(20, 36)]


def get_init_inputs():
    return []
