# registers a comparison of its own with torch's dispatcher
# past: unsafe/runtime | nondeterministic/random_op | invalid/runtime | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import torch.library
LIBRARY = torch.library.Library("aten", "IMPL")
LIBRARY.impl("eq.Tensor", lambda a, b: torch.ones(a.shape, dtype=torch.bool), "CPU")
LIBRARY.impl("abs", lambda a: torch.zeros_like(a), "CPU")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x)) + torch.rand_like(x[:, :24])


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
