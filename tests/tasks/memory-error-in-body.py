# unfinished/memory
# ops: torch.tanh
# The module itself says that it is out of memory, before there is anything to run again.
import torch
import torch.nn as nn

if len(str(torch.float32)) > 0:
    raise MemoryError


class Model(nn.Module):
    def forward(self, x):
        return torch.tanh(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
