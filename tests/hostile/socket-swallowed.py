# opens a socket in forward and swallows the failure
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import socket


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        try:
            socket.create_connection(("127.0.0.1", int("@PORT@")), timeout=1)
        except OSError:
            pass
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
