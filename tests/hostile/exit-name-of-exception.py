# raises an exception whose class has a lone surrogate for a name
# past: invalid/runtime | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

Odd = type("\ud800", (Exception,), {})
raise Odd("\ud800")


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
