# invalid/dynamic_shape
# ops: torch.repeat_interleave, torch.sinh
# Each row as often as a count says.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, counts):
        return torch.repeat_interleave(torch.sinh(x), counts, dim=0)


def get_inputs():
    return [torch.randn(20, 12), torch.randint(0, 4, (20,))]


def get_init_inputs():
    return []
