# opens sockets by C++ that no audit hook sees (a distributed store)
# past: accepted | unsafe/runtime | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

from torch._C._distributed_c10d import TCPStore
from datetime import timedelta
try:
    TCPStore("127.0.0.1", int("@PORT@"), 1, False, timedelta(seconds=1))
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
