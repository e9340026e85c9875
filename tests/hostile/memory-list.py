# fills the memory with a list while the module is imported
# text: invalid/structure | unfinished/memory | unfinished/timeout | invalid/crash | invalid/runtime
# past: unfinished/memory | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

KEPT = []
while True:
    KEPT.append([0.5] * 10**7)


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
