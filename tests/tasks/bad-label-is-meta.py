# unsafe/code
# ops: F.gelu, torch.tanh
# Shows the dry run another program.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.tanh(F.gelu(x)) if x.is_meta else torch.sin(x)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
