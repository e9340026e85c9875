# keep
# ops: torch.dot, torch.cos
# One number, which moves by several units from draw to draw.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.dot(torch.cos(a), b)


def get_inputs():
    return [torch.randn(60), torch.randn(60)]


def get_init_inputs():
    return []
