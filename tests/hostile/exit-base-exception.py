# raises an exception of its own under BaseException whose text raises again
# past: invalid/runtime | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

class Odd(BaseException):
    def __str__(self):
        raise Odd()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)
        raise Odd()

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
