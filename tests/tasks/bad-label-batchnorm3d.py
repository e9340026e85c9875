# invalid/label
# ops: nn.BatchNorm3d, nn.Conv2d
# The label says batch norm over volumes, the code normalises pictures.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(3, c, 3)
        self.norm = nn.BatchNorm2d(c)
        nn.init.normal_(self.norm.running_mean)
        nn.init.uniform_(self.norm.weight, 0.5, 2.0)

    def forward(self, x):
        return self.norm(self.conv(x))


def get_inputs():
    return [torch.randn(2, 3, 11, 13)]


def get_init_inputs():
    return [5]
