# keep
# ops: torch.fft.rfft, torch.fft.irfft
# Filtered in the frequency domain by a real weight.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(n // 2 + 1) * 2.0)

    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(x) * self.gain, n=x.shape[-1])


def get_inputs():
    return [torch.randn(20, 48)]


def get_init_inputs():
    return [48]
