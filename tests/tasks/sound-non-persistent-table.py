# keep
# ops: torch.mul, F.embedding
# A table outside the state dict that every instance computes alike.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        angle = torch.arange(n).float()[:, None] * torch.exp(-torch.arange(d).float() / 4.0)
        self.register_buffer("table", torch.sin(angle + 0.5), persistent=False)

    def forward(self, x, places):
        return x * F.embedding(places, self.table)


def get_inputs():
    return [torch.randn(7, 14, 18), torch.randint(0, 64, (7, 14))]


def get_init_inputs():
    return [64, 18]
