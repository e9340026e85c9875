# nondeterministic/random_op | nondeterministic/repeat | invalid/stateful | invalid/compile | invalid/runtime
# ops: torch.rand, torch.sinh
# Noise from a generator of its own: the global one does not move.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = torch.Generator().manual_seed(4)

    def forward(self, x):
        return torch.sinh(x) + torch.rand(x.shape, generator=self.generator).to(x.device)


def get_inputs():
    return [torch.randn(20, 32)]


def get_init_inputs():
    return []
