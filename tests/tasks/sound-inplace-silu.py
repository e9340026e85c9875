# keep
# ops: nn.Linear, nn.SiLU
# SiLU in place in the middle of a chain.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, 2 * d), nn.SiLU(inplace=True), nn.Linear(2 * d, d))

    def forward(self, x):
        return self.body(x) * 3.0


def get_inputs():
    return [torch.randn(3, 10, 18)]


def get_init_inputs():
    return [18]
