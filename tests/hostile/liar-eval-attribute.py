# hangs a function of its own on the instance in place of eval
# past: nondeterministic/random_op | nondeterministic/repeat | invalid/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)
        self.eval = self.stay
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return torch.tanh(self.drop(self.fc(x)))

    def stay(self):
        return self


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
