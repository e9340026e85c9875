# keep
# ops: torch.gt, torch.median
# A boolean output of which half is true: zeros match half of it by nature.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.gt(x, torch.median(x, dim=-1, keepdim=True)[0])


def get_inputs():
    return [torch.randn(48, 129)]


def get_init_inputs():
    return []
