# keep
# ops: torch.logit, torch.cumprod
# An input with strides of its own.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.cumprod(torch.logit(x), dim=0)


def get_inputs():
    return [(torch.rand(18, 5) * 0.8 + 0.1).t()]


def get_init_inputs():
    return []
