# invalid/ill_conditioned
# ops: torch.matmul, torch.tan, torch.round
# Tangent of large arguments, rounded: the last bit of the matmul decides the output.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, a, b):
        return torch.round(torch.tan(torch.matmul(a, b) * 50.0))


def get_inputs():
    return [torch.randn(64, 512), torch.randn(512, 64)]


def get_init_inputs():
    return []
