# computes a power that takes years, in one step of the interpreter
# text: unfinished/timeout | unfinished/memory | invalid/crash
# past: unfinished/timeout | unfinished/memory | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

NUMBER = 9 ** 9 ** 9 ** 2


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
