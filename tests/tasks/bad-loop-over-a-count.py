# invalid/compile
# ops: torch.sin
# How often the loop runs is an element of an argument.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, steps):
        for _ in range(int(steps[0])):
            x = torch.sin(x) + 0.1
        return x


def get_inputs():
    return [torch.randn(20, 46), torch.randint(2, 6, (1,))]


def get_init_inputs():
    return []
