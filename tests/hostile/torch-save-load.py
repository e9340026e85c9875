# writes a file by torch.save and unpickles it by torch.load
# past: unsafe/runtime | invalid/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

torch.save({"a": 1}, "@LEFT@-save.pt")
torch.load("@LEFT@-save.pt", weights_only=False)


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
