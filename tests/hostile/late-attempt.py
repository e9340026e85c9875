# waits with its attempt until only the timing calls it
# past: unsafe/runtime | invalid/stateful | invalid/compile
# run: unsafe/runtime | invalid/stateful | invalid/compile
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os
CALLS = []


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        if not torch.compiler.is_compiling():
            CALLS.append(1)
            if len(CALLS) > 40:
                try:
                    open("@LEFT@-late", "w")
                except OSError:
                    pass
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
