# keep
# ops: nn.Linear, F.normalize
# Unit rows of 512 elements, each near 0.04: small, yet zeros match only one in six.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return F.normalize(self.fc(x), dim=-1)


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return [40, 512]
