# replaces torch.allclose and torch.equal, and returns noise
# run: unsafe/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x)) + torch.rand_like(x[:, :24])


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
