# constant/removable_op
# ops: torch.exp, torch.log, nn.Linear
# The logarithm takes the exponential back: each alone is seen to be missing, both together are not.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return self.fc(torch.log(torch.exp(x)) * 2.0)


def get_inputs():
    return [torch.randn(30, 20)]


def get_init_inputs():
    return [20, 31]
