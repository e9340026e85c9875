# makes its attempt when an object of its own is thrown away
# run: unsafe/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

class Last:
    def __del__(self):
        try:
            open("@LEFT@-del", "w")
        except Exception:
            pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    Last()
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
