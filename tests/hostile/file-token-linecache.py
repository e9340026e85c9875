# reads a token file through linecache and the loader of a source file
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import linecache
from importlib.machinery import SourceFileLoader
print(linecache.getlines("@TMPFILE@"))
try:
    print(SourceFileLoader("x", "@TMPFILE@").get_data("@TMPFILE@"))
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
