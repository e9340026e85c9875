# constant/dead_input | invalid/unused
# ops: torch.relu
# The second argument lends only its shape.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, a, b):
        return torch.relu(a).reshape(b.shape)


def get_inputs():
    return [torch.randn(64, 256), torch.randn(128, 128)]


def get_init_inputs():
    return []
