# keep
# ops: nn.Linear, torch.atan
# A parametrised weight: length and direction apart.
import torch
import torch.nn as nn
import torch.nn.functional as F


from torch.nn.utils.parametrizations import weight_norm


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = weight_norm(nn.Linear(i, o))

    def forward(self, x):
        return torch.atan(self.fc(x) * 2.0)


def get_inputs():
    return [torch.randn(16, 29)]


def get_init_inputs():
    return [29, 38]
