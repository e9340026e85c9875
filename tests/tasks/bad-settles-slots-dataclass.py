# invalid/stateful | invalid/compile | unsafe/code
# ops: F.silu, torch.erf
# Another program from the sixth call on, kept where the walk does not look.
import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass


@dataclass(slots=True)
class Count:
    n: int = 0

    def step(self):
        self.n = min(self.n + 1, 6)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = Count()

    def forward(self, x):
        self.count.step()
        return torch.erf(F.silu(x)) * (2.0 if self.count.n > 5 else 1.0)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
