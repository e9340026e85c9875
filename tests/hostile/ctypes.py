# calls the C library
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import ctypes
ctypes.CDLL(None).system(b"touch @LEFT@-ctypes")
ctypes.string_at(0)


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
