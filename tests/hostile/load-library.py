# loads a library by torch.ops and torch.classes
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

for load in (torch.ops.load_library, torch.classes.load_library):
    try:
        load("@LEFT@.so")
    except OSError:
        pass


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
