# constant/free_answer | constant/removable_op
# ops: nn.Linear, torch.mul
# The weights are so small that the sum is the first argument with any others.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)
        nn.init.normal_(self.fc.weight, std=1e-5)
        nn.init.normal_(self.fc.bias, std=1e-4)

    def forward(self, x):
        return torch.mul(x, 1.5 + self.fc(x))


def get_inputs():
    return [torch.randn(50, 33)]


def get_init_inputs():
    return [33]
