# keep
# ops: nn.Linear, F.gelu
# Cast to bfloat16 in the constructor: eager and compiled code round at different places.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.up = nn.Linear(i, h)
        self.down = nn.Linear(h, o)
        self.to(torch.bfloat16)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


def get_inputs():
    return [torch.randn(28, 64, dtype=torch.bfloat16)]


def get_init_inputs():
    return [64, 96, 48]
