# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.exp2, torch.tanh
# Another program from the sixth call on, kept where the walk does not look.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.my_hooks = [0]

    def forward(self, x):
        self.my_hooks[0] = min(self.my_hooks[0] + 1, 6)
        return torch.tanh(torch.exp2(x)) * (2.0 if self.my_hooks[0] > 5 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
