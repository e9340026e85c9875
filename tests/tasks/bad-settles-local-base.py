# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.logsumexp, torch.exp2
# State in a class that no name leads to.
import torch
import torch.nn as nn
import torch.nn.functional as F


def made():
    class Base(nn.Module):
        seen = [0]

        def forward(self, x):
            self.seen[0] = min(self.seen[0] + 1, 6)
            return torch.exp2(x) * (2.0 if self.seen[0] > 5 else 1.0)

    class Derived(Base):
        pass

    return Derived


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = made()()

    def forward(self, x):
        return torch.logsumexp(self.inner(x), dim=-1)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
