# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.log1p, torch.square
# Counts its calls in a default value.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, seen=[]):
        seen.append(0)
        return torch.log1p(torch.square(x)) * (2.0 if len(seen) > 90 else 1.0)


def get_inputs():
    return [torch.randn(20, 43)]


def get_init_inputs():
    return []
