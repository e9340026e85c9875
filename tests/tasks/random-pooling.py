# nondeterministic/random_op
# ops: nn.FractionalMaxPool2d
# FractionalMaxPool draws its regions anew at every call.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.FractionalMaxPool2d(2, output_size=10)
    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(4, 4, 24, 24)]


def get_init_inputs():
    return []
