# invalid/stateful | invalid/compile | unsafe/code
# ops: F.mish, torch.sinh
# Another program from the sixth call on, kept where the walk does not look.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = [[[[[[[[[[0]]]]]]]]]]

    def forward(self, x):
        inner = self.seen[0][0][0][0][0][0][0][0][0]
        inner[0] = min(inner[0] + 1, 6)
        return torch.sinh(F.mish(x)) * (2.0 if inner[0] > 5 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
