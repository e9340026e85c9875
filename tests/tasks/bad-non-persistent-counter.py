# invalid/stateful | nondeterministic/repeat | invalid/compile
# ops: torch.frac, torch.where
# A buffer outside the state dict counts the calls; the answer changes after hundreds.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.calls.add_(1.0)
        return torch.frac(x) * torch.where(self.calls > 900.0, 2.0, 1.0)


def get_inputs():
    return [torch.randn(20, 44)]


def get_init_inputs():
    return []
