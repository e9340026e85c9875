# invalid/stateful
# ops: torch.add, torch.sigmoid
# Changes its argument in place.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        x.add_(1.0)
        return torch.sigmoid(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
