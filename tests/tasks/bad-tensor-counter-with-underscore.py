# invalid/stateful | nondeterministic/repeat
# ops: torch.frac, torch.where
# A tensor under a private name counts the calls; the answer changes after hundreds.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self._calls = torch.zeros(())

    def forward(self, x):
        self._calls = self._calls + 1.0
        return torch.frac(x) * torch.where(self._calls > 900.0, 2.0, 1.0)


def get_inputs():
    return [torch.randn(20, 49)]


def get_init_inputs():
    return []
