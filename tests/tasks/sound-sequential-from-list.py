# keep
# ops: nn.Conv2d, nn.ELU
# Layers gathered in a plain list and handed to nn.Sequential.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, widths):
        super().__init__()
        layers = []
        for i, o in zip(widths, widths[1:]):
            layers.append(nn.Conv2d(i, o, 3, padding=1, groups=2))
            layers += [nn.ELU(0.6)]
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x)


def get_inputs():
    return [torch.randn(2, 4, 11, 9)]


def get_init_inputs():
    return [[4, 8, 6]]
