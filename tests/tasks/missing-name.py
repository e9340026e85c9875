# invalid/runtime
# ops: torch.softmax
# Uses a name that is never imported.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return torch.softmax(x * math.sqrt(2.0), dim=-1)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
