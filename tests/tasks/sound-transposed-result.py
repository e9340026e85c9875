# keep
# ops: nn.PReLU, torch.outer
# flags: shape_coupled
# The output is a view with strides of its own, of values that were computed.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.act = nn.PReLU(n)
        nn.init.uniform_(self.act.weight, 0.1, 0.9)

    def forward(self, a, b):
        return self.act(torch.outer(a, b)).t()


def get_inputs():
    return [torch.randn(61), torch.randn(47)]


def get_init_inputs():
    return [47]
