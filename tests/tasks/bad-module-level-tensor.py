# invalid/globals
# ops: torch.mul, torch.erf
# forward reads a tensor of the module.
import torch
import torch.nn as nn
import torch.nn.functional as F


SCALE = torch.linspace(0.5, 2.0, 32)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.mul(torch.erf(x), SCALE.to(x.device))


def get_inputs():
    return [torch.randn(30, 32)]


def get_init_inputs():
    return []
