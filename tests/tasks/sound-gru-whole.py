# invalid/compile
# ops: nn.GRU, nn.LayerNorm
# Sound.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(12, 20, num_layers=2)
        self.norm = nn.LayerNorm(20)

    def forward(self, x):
        y, _ = self.rnn(x)
        return self.norm(y)


def get_inputs():
    return [torch.randn(6, 8, 12)]


def get_init_inputs():
    return []
