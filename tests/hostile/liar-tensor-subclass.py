# returns a tensor of a class of its own whose comparisons say what it likes
# past: unsafe/runtime | invalid/runtime | invalid/output_type | invalid/compile
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

class Liar(torch.Tensor):
    def isfinite(self):
        return torch.ones(self.shape, dtype=torch.bool)
    def double(self):
        return torch.zeros(self.shape, dtype=torch.float64)
    def clone(self):
        return self


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x)).as_subclass(Liar)


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
