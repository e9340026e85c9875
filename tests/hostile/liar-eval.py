# stays in train mode when eval is asked for
# past: nondeterministic/random_op | nondeterministic/repeat
# run: nondeterministic/random_op | nondeterministic/repeat
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return torch.tanh(self.drop(self.fc(x)))

    def eval(self):
        return self

    def train(self, mode=True):
        return self


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
