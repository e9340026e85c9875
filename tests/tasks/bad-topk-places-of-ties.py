# invalid/ill_conditioned | nondeterministic/repeat
# ops: torch.topk, torch.floor
# Which of many equal values are the five largest, nothing says.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.topk(torch.floor(x), 5, dim=-1)[1]


def get_inputs():
    return [torch.rand(30, 100) * 4.0]


def get_init_inputs():
    return []
