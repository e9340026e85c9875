# keep
# ops: torch.where, torch.cosh
# A chequered mask made from sizes alone, on the input's device.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        rows = torch.arange(x.shape[0], device=x.device)[:, None]
        columns = torch.arange(x.shape[1], device=x.device)
        return torch.where((rows + columns) % 2 == 0, torch.cosh(x), -x)


def get_inputs():
    return [torch.randn(26, 47)]


def get_init_inputs():
    return []
