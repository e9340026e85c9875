# invalid/init | nondeterministic/init
# ops: torch.tanh, torch.sin, torch.exp2, F.softplus
# Layers in the order of a set of strings.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        table = {'tanh': torch.tanh, 'sin': torch.sin, 'exp': torch.exp2, 'plus': F.softplus}
        self.fs = [table[name] for name in set(table)]

    def forward(self, x):
        for f in self.fs:
            x = f(x)
        return x


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
