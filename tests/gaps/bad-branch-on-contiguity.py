# invalid/label | invalid/compile | unsafe/code
# ops: torch.sinh, nn.LeakyReLU
# Looks at the strides.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.LeakyReLU(0.3)

    def forward(self, x):
        return self.act(torch.sinh(x)) if x.is_contiguous() else x * 3.0


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
