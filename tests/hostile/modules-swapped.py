# swaps modules of the screen and of the standard library in sys.modules
# past: unsafe/runtime | invalid/crash | invalid/compile | invalid/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import sys, types
for name in ("json", "ops6k.screen.compare", "ops6k.records", "os"):
    sys.modules[name] = types.ModuleType(name)


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
