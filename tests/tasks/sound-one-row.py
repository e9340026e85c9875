# keep
# ops: torch.logsumexp, torch.sin
# A batch of one.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.logsumexp(torch.sin(x) * 3.0, dim=-1)


def get_inputs():
    return [torch.randn(1, 30, 12)]


def get_init_inputs():
    return []
