# constant/output | constant/low_activity | constant/free_answer
# ops: nn.AdaptiveAvgPool2d, torch.erf
# The mean of 65,536 values moves by 0.002: less than any verifier asks.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x):
        return self.pool(torch.erf(x))


def get_inputs():
    return [torch.randn(2, 3, 256, 256)]


def get_init_inputs():
    return []
