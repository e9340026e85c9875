# keep
# ops: nn.Linear, torch.atan
# The constructor leaves the building to a method of its own.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.build(d, depth)

    def build(self, d, depth):
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.atan(layer(x) * 2.0)
        return x


def get_inputs():
    return [torch.randn(20, 21)]


def get_init_inputs():
    return [21, 3]
