# asks for a terabyte, and swallows the refusal
# text: invalid/unused | invalid/runtime | unfinished/memory | invalid/crash | nondeterministic/init | out_of_range/memory
# past: accepted | invalid/runtime | unfinished/memory | invalid/crash | out_of_range/memory | invalid/stateful | invalid/unused
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)
        try:
            self.table = torch.empty(2**38)
            self.table.fill_(1)
        except RuntimeError:
            pass

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
