# constant/removable_op
# ops: F.relu6, torch.clamp_max, nn.Conv1d
# What ReLU6 cut at six cannot be cut at seven.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv1d(6, c, 3)

    def forward(self, x):
        return torch.clamp_max(F.relu6(self.conv(x) * 5.0), 7.0)


def get_inputs():
    return [torch.randn(3, 6, 26)]


def get_init_inputs():
    return [8]
