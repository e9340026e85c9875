# invalid/device
# ops: torch.bucketize
# A tensor given to the constructor and kept as a plain attribute stays on the CPU when the model moves. Only visible on an accelerator (or with the meta device).
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, edges):
        super().__init__()
        self.edges = edges
    def forward(self, x):
        return torch.bucketize(x, self.edges).float() + x


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [torch.linspace(-2, 2, 33)]
