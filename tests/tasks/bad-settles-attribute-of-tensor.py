# invalid/stateful | invalid/compile | unsafe/code
# ops: F.selu, torch.cosh
# Another program from the sixth call on, kept where the walk does not look.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.holder = torch.zeros(1)
        self.holder.n = 0

    def forward(self, x):
        self.holder.n = min(self.holder.n + 1, 6)
        return torch.cosh(F.selu(x)) * (2.0 if self.holder.n > 5 else 1.5)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
