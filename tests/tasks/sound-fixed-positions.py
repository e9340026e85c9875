# keep
# ops: torch.cos, torch.sin, torch.cat
# Positions are an argument and the same at every call: fixed on purpose.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, pairs):
        super().__init__()
        self.pairs = pairs

    def forward(self, x, positions):
        rates = torch.pow(100.0, -torch.arange(self.pairs, device=x.device) / self.pairs)
        angle = positions[:, None] * rates
        left, right = x.chunk(2, dim=-1)
        return torch.cat([left * torch.cos(angle) - right * torch.sin(angle), left * torch.sin(angle) + right * torch.cos(angle)], dim=-1)


def get_inputs():
    return [torch.randn(4, 15, 16), torch.arange(15.0)]


def get_init_inputs():
    return [8]
