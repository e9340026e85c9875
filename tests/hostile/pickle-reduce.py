# runs a command by a pickle's __reduce__
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os, pickle
class Bomb:
    def __reduce__(self):
        return os.system, ("touch @LEFT@-pickle",)
pickle.loads(pickle.dumps(Bomb()))


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
