# constant/removable_op | constant/inactive_op
# ops: nn.Linear, torch.sigmoid, torch.tanh
# The gate stands at one for every input.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.gate = nn.Linear(i, o)
        self.value = nn.Linear(i, o)
        nn.init.constant_(self.gate.bias, 12.0)

    def forward(self, x):
        return torch.tanh(self.value(x)) * torch.sigmoid(self.gate(x))


def get_inputs():
    return [torch.randn(22, 26)]


def get_init_inputs():
    return [26, 34]
