# invalid/device | invalid/runtime
# ops: torch.arange, torch.mul
# forward builds a tensor without naming a device.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return x * torch.arange(x.shape[-1]).to(x.dtype)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
