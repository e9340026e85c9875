# constant/low_activity | constant/output
# ops: torch.eq
# Two random numbers of a thousand are hardly ever equal.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.eq(a, b)


def get_inputs():
    return [torch.randint(0, 1000, (60, 70)), torch.randint(0, 1000, (60, 70))]


def get_init_inputs():
    return []
