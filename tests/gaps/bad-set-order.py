# invalid/init | nondeterministic/init
# ops: torch.tanh, torch.sin, torch.exp2, F.softplus
# The order of a set of strings is another in every process.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        for name in {'tanh', 'sin', 'exp', 'plus'}:
            if name == 'tanh':
                x = torch.tanh(x)
            elif name == 'sin':
                x = torch.sin(x)
            elif name == 'exp':
                x = torch.exp2(x)
            else:
                x = F.softplus(x)
        return x


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
