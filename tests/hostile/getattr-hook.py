# answers for names of a module by a module-level __getattr__
# past: invalid/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

def __getattr__(name):
    return torch.os
import sys
raise ValueError(str(sys.modules[__name__].anything.environ))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
