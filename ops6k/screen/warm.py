"""What the fork server does once, so that every child finds it done."""

import torch

from ops6k.screen.dry_run import dry_run_code
from ops6k.target import Target

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 48)
    def forward(self, x):
        return torch.tanh(self.fc(x))

def get_inputs():
    return [torch.randn(32, 64)]

def get_init_inputs():
    return []
"""
TARGET = Target("warm", "cpu", None, "", 1, 1, "highest", False, 1.0, {"float32": 1.0}, 1.0, "")


def dry_run_once() -> None:
    """Registers fake kernels and FLOP formulas: the first dry run of a process takes a second, the next 10 ms."""
    torch.set_num_threads(1)
    dry_run_code(TASK, TARGET)


def compile_once() -> None:
    """As dry_run_once, and on a CPU one compile: the next costs a child 1-2 s, the first of a process took 9 s."""
    dry_run_once()
    with torch.no_grad():
        torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()).eval())(torch.zeros(4, 8))
    torch._dynamo.reset()
