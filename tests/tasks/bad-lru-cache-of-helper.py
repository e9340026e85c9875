# invalid/stateful | invalid/compile | unsafe/code
# ops: torch.exp2, F.softplus
# The last answer, by the identity of the argument.
import torch
import torch.nn as nn
import torch.nn.functional as F
from functools import lru_cache


@lru_cache(maxsize=1)
def warm(x):
    return torch.exp2(x) if isinstance(x, torch.Tensor) else x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        warm(0.0)

    def forward(self, x, y):
        return F.softplus(warm(x) * y) + y


def get_inputs():
    return [torch.randn(20, 42), torch.randn(20, 42)]


def get_init_inputs():
    return []
