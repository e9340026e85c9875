# constant/removable_op
# ops: nn.Conv2d, nn.BatchNorm2d, nn.SiLU
# A fresh BatchNorm in eval mode divides by sqrt(1 + 1e-5): the identity, within any tolerance.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(3, c, 3, padding=1)
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x):
        return F.silu(self.bn(self.conv(x)))


def get_inputs():
    return [torch.randn(8, 3, 32, 32)]


def get_init_inputs():
    return [16]
