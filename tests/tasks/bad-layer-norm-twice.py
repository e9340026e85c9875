# constant/removable_op
# ops: nn.Conv1d, F.layer_norm
# What is normalised already is normalised again.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c, n):
        super().__init__()
        self.conv = nn.Conv1d(3, c, 3)
        self.n = n

    def forward(self, x):
        y = self.conv(x)
        return F.layer_norm(F.layer_norm(y, (self.n,)), (self.n,))


def get_inputs():
    return [torch.randn(4, 3, 34)]


def get_init_inputs():
    return [8, 32]
