# says that it has no parameters
# past: accepted | unsafe/runtime | invalid/runtime | invalid/device
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x))

    def named_parameters(self, *args, **kwargs):
        return iter(())

    def parameters(self, *args, **kwargs):
        return iter(())


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
