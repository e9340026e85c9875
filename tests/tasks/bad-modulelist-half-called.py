# invalid/unused
# ops: nn.Linear, torch.sin
# Three layers are built, two are called.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers[:2]:
            x = torch.sin(layer(x))
        return x


def get_inputs():
    return [torch.randn(30, 17)]


def get_init_inputs():
    return [17]
