# invalid/stateful | invalid/compile | unsafe/code
# ops: F.elu, torch.atan
# Another program from the sixth call on, kept where the walk does not look.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Count:
    def __init__(self):
        self.n = 0

    def step(self):
        self.n = min(self.n + 1, 6)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {Count(): 1}

    def forward(self, x):
        for key in self.seen:
            key.step()
        return torch.atan(F.elu(x)) * (2.0 if key.n > 5 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
