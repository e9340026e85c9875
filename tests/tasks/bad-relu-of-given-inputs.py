# constant/inactive_op
# ops: F.relu, nn.Linear
# ReLU over inputs that are never negative.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return self.fc(F.relu(x))


def get_inputs():
    return [torch.rand(24, 30)]


def get_init_inputs():
    return [30, 19]
