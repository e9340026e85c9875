# reaches globals by operator.attrgetter, functools.reduce and getattr
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import functools, operator
reach = operator.attrgetter("__init__.__globals__")
SYSTEM = functools.reduce(getattr, ("os", "system"), torch)
SYSTEM("touch @LEFT@-attrgetter")
print(reach(nn.Module)["torch"])


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
