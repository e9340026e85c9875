# ends its process with status 0 by os._exit
# past: invalid/crash
# run: invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os
os._exit(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
