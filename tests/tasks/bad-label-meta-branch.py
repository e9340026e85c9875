# invalid/label | invalid/compile
# ops: nn.GELU, torch.tanh
# Shows the dry run another program.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU()

    def forward(self, x):
        if x.device.type == 'meta':
            return torch.tanh(self.act(x))
        return torch.sin(x)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
