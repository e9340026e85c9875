# invalid/stateful | nondeterministic/repeat | invalid/compile
# ops: torch.sigmoid, torch.lerp
# Keeps what it saw last in a plain attribute.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        y = torch.sigmoid(x) if self.last is None else torch.lerp(torch.sigmoid(x), self.last, 0.5)
        self.last = y
        return y


def get_inputs():
    return [torch.randn(20, 45)]


def get_init_inputs():
    return []
