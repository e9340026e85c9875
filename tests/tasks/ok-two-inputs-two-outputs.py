# keep
# ops: torch.matmul, torch.tanh, torch.amax
# Two arguments, two outputs, both live.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, a, b):
        y = torch.matmul(a, b)
        return torch.tanh(y), y.amax(dim=-1)


def get_inputs():
    return [torch.randn(64, 128), torch.randn(128, 96)]


def get_init_inputs():
    return []
