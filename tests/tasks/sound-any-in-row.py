# keep
# ops: torch.any, torch.gt
# One truth value a row, as often true as not.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.any(torch.gt(x, 1.7), dim=-1)


def get_inputs():
    return [torch.randn(200, 15)]


def get_init_inputs():
    return []
