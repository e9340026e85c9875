# constant/removable_op
# ops: nn.Conv1d, torch.cos
# A residual branch whose last layer starts at zero adds nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.branch = nn.Conv1d(c, c, 3, padding=1)
        nn.init.zeros_(self.branch.weight)
        nn.init.zeros_(self.branch.bias)

    def forward(self, x):
        y = torch.cos(x)
        return y + self.branch(y)


def get_inputs():
    return [torch.randn(3, 8, 50)]


def get_init_inputs():
    return [8]
