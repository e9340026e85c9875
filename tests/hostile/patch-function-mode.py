# leaves a function mode on torch's stack that lies about comparisons
# past: unsafe/runtime | nondeterministic/random_op | invalid/runtime | invalid/crash | invalid/compile
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

from torch.overrides import TorchFunctionMode
class Lie(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in ("equal", "eq", "__eq__"):
            return torch.ones(args[0].shape, dtype=torch.bool)
        return func(*args, **(kwargs or {}))
MODE = Lie()
MODE.__enter__()


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
