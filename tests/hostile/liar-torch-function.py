# returns a tensor of a class with a __torch_function__ and an __eq__ that lie
# past: unsafe/runtime | invalid/runtime | invalid/output_type | invalid/compile | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

class Liar(torch.Tensor):
    def __eq__(self, other):
        return torch.ones(self.shape, dtype=torch.bool)
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


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
