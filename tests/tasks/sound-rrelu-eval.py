# keep
# ops: nn.RReLU, nn.Linear
# flags: mode_dependent
# Tagged as random, yet in eval mode its slope is fixed.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
        self.act = nn.RReLU(0.1, 0.4)

    def forward(self, x):
        return self.act(self.fc(x))


def get_inputs():
    return [torch.randn(20, 30)]


def get_init_inputs():
    return [30, 46]
