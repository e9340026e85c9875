# constant/removable_op
# ops: nn.Linear, F.gelu
# A branch scaled by a millionth is swamped by what it is added to.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.scale = nn.Parameter(torch.full((d,), 1e-6))

    def forward(self, x):
        return x * 2.0 + F.gelu(self.fc(x)) * self.scale


def get_inputs():
    return [torch.randn(22, 27)]


def get_init_inputs():
    return [27]
