# invalid/output_type
# ops: torch.max
# torch.max over a dimension returns a named tuple that a kernel cannot reproduce by type.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return torch.max(x, dim=-1)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
