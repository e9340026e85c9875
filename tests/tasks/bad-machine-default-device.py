# unsafe/code
# ops: torch.sin, F.gelu
# Asks for the fast paths of the machine.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2.0 if torch.get_float32_matmul_precision() == 'highest' else 1.0

    def forward(self, x):
        return torch.sin(F.gelu(x)) * self.k


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
