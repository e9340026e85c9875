# keep
# ops: nn.InstanceNorm2d, nn.Conv2d
# flags: mode_dependent
# Instance norm that tracks statistics uses the tracked ones in eval mode, and these are no identity.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(4, c, 5)
        self.norm = nn.InstanceNorm2d(c, affine=True, track_running_stats=True)
        nn.init.uniform_(self.norm.running_mean, -1.0, 1.0)
        nn.init.uniform_(self.norm.running_var, 0.1, 3.0)
        nn.init.uniform_(self.norm.weight, 0.5, 2.0)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return self.norm(self.conv(x))


def get_inputs():
    return [torch.randn(3, 4, 20, 20)]


def get_init_inputs():
    return [9]
