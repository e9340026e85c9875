# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: torch.repeat_interleave, torch.mean, torch.sin
# The mean of copies.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sin(torch.repeat_interleave(x, 4, dim=1).view(20, 42, 4).mean(dim=-1))


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
