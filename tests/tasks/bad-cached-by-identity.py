# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.sinh, torch.cumsum
# A cache answers when the same tensor comes again: from the second call on nothing is computed.
import torch
import torch.nn as nn
import torch.nn.functional as F


from functools import lru_cache


@lru_cache
def slow(x):
    return torch.cumsum(torch.sinh(x), dim=-1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return slow(x) + 1.0


def get_inputs():
    return [torch.randn(20, 34)]


def get_init_inputs():
    return []
