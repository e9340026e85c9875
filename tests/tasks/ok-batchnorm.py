# keep
# ops: nn.Conv2d, nn.BatchNorm2d, nn.SiLU
# flags: mode_dependent
# BatchNorm with statistics and weights of its own (in the state dict). Kept, and marked mode-dependent.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(3, c, 3, padding=1)
        self.bn = nn.BatchNorm2d(c)
        nn.init.normal_(self.bn.running_mean, std=0.5)
        nn.init.uniform_(self.bn.running_var, 0.25, 4.0)
        nn.init.uniform_(self.bn.weight, 0.5, 2.0)
        nn.init.normal_(self.bn.bias)
    def forward(self, x):
        return F.silu(self.bn(self.conv(x)))


def get_inputs():
    return [torch.randn(8, 3, 32, 32)]


def get_init_inputs():
    return [16]
