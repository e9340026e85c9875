# keep
# ops: nn.Linear, F.softplus
# Layers appended to the ModuleList after it was made.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList()
        for i, o in zip(widths, widths[1:]):
            self.layers.append(nn.Linear(i, o))

    def forward(self, x):
        for layer in self.layers:
            x = F.softplus(layer(x)) - 0.5
        return x


def get_inputs():
    return [torch.randn(16, 20)]


def get_init_inputs():
    return [[20, 33, 27, 14]]
