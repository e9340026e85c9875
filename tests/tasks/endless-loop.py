# unfinished/timeout | invalid/compile | invalid/runtime
# ops: torch.tanh
# forward never returns.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        while True:
            x = torch.tanh(x)
        return x


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
