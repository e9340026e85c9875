# invalid/output_type
# ops: torch.fft.fft
# Complex numbers are not compared.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.fft.fft(x)


def get_inputs():
    return [torch.randn(30, 36)]


def get_init_inputs():
    return []
