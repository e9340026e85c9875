# invalid/label | constant/removable_op | constant/dead_input | invalid/unused
# ops: torch.sinh, torch.matmul
# Of the product only the shape is used.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, y):
        return torch.sinh(x) * torch.matmul(y, x).shape[0]


def get_inputs():
    return [torch.randn(30, 53), torch.randn(30, 30)]


def get_init_inputs():
    return []
