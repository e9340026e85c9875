# invalid/compile
# ops: torch.relu, torch.tanh
# Branches on a value: torch.compile breaks the graph.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        if x.sum() > 0:
            return torch.relu(x)
        return torch.tanh(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
