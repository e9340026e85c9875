# keep
# ops: nn.Conv2d, nn.Hardshrink
# Named layers in an ordered dict.
import torch
import torch.nn as nn
import torch.nn.functional as F


from collections import OrderedDict


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(OrderedDict([("mix", nn.Conv2d(2, c, 3, bias=False)), ("cut", nn.Hardshrink(0.2))]))

    def forward(self, x):
        return self.body(x)


def get_inputs():
    return [torch.randn(2, 2, 13, 14)]


def get_init_inputs():
    return [6]
