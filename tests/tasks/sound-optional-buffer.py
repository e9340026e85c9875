# keep
# ops: torch.lerp, torch.sin
# One buffer is there, another is None.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.register_buffer("goal", torch.randn(d))
        self.register_buffer("shift", None)

    def forward(self, x):
        y = torch.lerp(torch.sin(x), self.goal, 0.3)
        return y if self.shift is None else y + self.shift


def get_inputs():
    return [torch.randn(20, 44)]


def get_init_inputs():
    return [44]
