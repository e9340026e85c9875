# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: torch.fft.rfft, torch.fft.irfft, torch.tanh
# There and back.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.tanh(torch.fft.irfft(torch.fft.rfft(x), n=42))


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
