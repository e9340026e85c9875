# invalid/compile
# ops: torch.relu, torch.abs
# Looks whether it is being compiled.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        if torch.compiler.is_compiling():
            return torch.relu(x)
        return torch.abs(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
