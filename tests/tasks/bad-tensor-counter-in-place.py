# invalid/stateful | nondeterministic/repeat
# ops: torch.frac, torch.where, torch.expm1
# A plain tensor attribute counts the calls in place; the answer changes after hundreds.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = torch.zeros(())

    def forward(self, x):
        self.calls.add_(1.0)
        return torch.frac(torch.expm1(x)) * torch.where(self.calls > 900.0, 2.0, 1.0)


def get_inputs():
    return [torch.randn(20, 51)]


def get_init_inputs():
    return []
