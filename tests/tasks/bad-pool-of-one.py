# constant/removable_op
# ops: nn.Conv2d, nn.MaxPool2d
# A window of one element pools nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(3, c, 3)
        self.pool = nn.MaxPool2d(kernel_size=1, stride=1)

    def forward(self, x):
        return self.pool(self.conv(x))


def get_inputs():
    return [torch.randn(2, 3, 14, 14)]


def get_init_inputs():
    return [7]
