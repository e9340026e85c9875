# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.sin, F.softplus
# Another program from the sixth call on, kept where the walk does not look.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dump_patches = 0

    def forward(self, x):
        self.dump_patches = min(self.dump_patches + 1, 6)
        return F.softplus(torch.sin(x)) * (2.0 if self.dump_patches > 5 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
