# sets a trace function over everything that runs after it
# run: unsafe/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import sys, threading
def trace(frame, event, argument):
    if frame.f_code.co_name == "eager_finding":
        print(frame.f_locals)
    return trace
sys.settrace(trace)
threading.setprofile(trace)


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
