# invalid/globals
# ops: nn.Linear, torch.reshape
# forward reads a module-level size although the constructor was given it.
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
    def forward(self, x):
        return self.fc(x).reshape(BATCH, -1, 2)


def get_inputs():
    return [torch.randn(BATCH, 256)]


def get_init_inputs():
    return [256, 128]
