# invalid/stateful | constant/identity
# ops: nn.ReLU
# ReLU in place on the argument itself.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(x) * 1.5


def get_inputs():
    return [torch.randn(3, 30, 14)]


def get_init_inputs():
    return []
