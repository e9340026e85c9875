# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.cos, F.gelu
# Another program from the sixth call on, kept where the walk does not look.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 'x' * 2000

    def forward(self, x):
        self.seen = (self.seen + 'x')[:2006]
        return F.gelu(torch.cos(x)) * (2.0 if len(self.seen) - 2000 > 5 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
