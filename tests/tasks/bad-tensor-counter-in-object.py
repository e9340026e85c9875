# invalid/stateful | nondeterministic/repeat
# ops: torch.frac, torch.where, torch.cosh
# A tensor in an object that is no module counts the calls; the answer changes after hundreds.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Count:
    def __init__(self):
        self.calls = torch.zeros(())

    def step(self):
        self.calls = self.calls + 1.0
        return self.calls


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = Count()

    def forward(self, x):
        return torch.frac(torch.cosh(x)) * torch.where(self.count.step() > 900.0, 2.0, 1.0)


def get_inputs():
    return [torch.randn(20, 50)]


def get_init_inputs():
    return []
