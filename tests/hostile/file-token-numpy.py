# reads a token file by numpy.fromfile and a memory map
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import numpy as np
for read in (np.fromfile, np.memmap, np.genfromtxt):
    try:
        print(bytes(read("@TMPFILE@", dtype="uint8")))
    except Exception:
        pass


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
