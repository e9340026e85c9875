# constant/removable_op
# ops: nn.Linear, torch.mul, torch.tanh
# A learned scale that starts at one.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
        self.scale = nn.Parameter(torch.ones(o))
    def forward(self, x):
        return torch.tanh(self.fc(x) * self.scale)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256, 128]
