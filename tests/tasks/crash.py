# invalid/crash | unsafe/code | invalid/runtime
# ops: torch.tanh
# Recurses until the interpreter's stack is gone.
import torch
import torch.nn as nn
import torch.nn.functional as F

import sys
sys.setrecursionlimit(10**7)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return self.forward(torch.tanh(x))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
