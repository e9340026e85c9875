# constant/removable_op
# ops: F.conv1d, torch.cos
# A kernel that picks the middle, shorter by two.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('w', torch.tensor([0.0, 1.0, 0.0]).expand(8, 1, 3).contiguous())

    def forward(self, x):
        return torch.cos(F.conv1d(x, self.w, groups=8))


def get_inputs():
    return [torch.randn(2, 8, 30)]


def get_init_inputs():
    return []
