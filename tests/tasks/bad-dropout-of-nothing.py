# constant/removable_op
# ops: F.dropout, nn.Linear
# Dropout with p = 0 is not random, and does nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return F.dropout(self.fc(x), p=0.0)


def get_inputs():
    return [torch.randn(22, 24)]


def get_init_inputs():
    return [24, 36]
