# invalid/stateful
# ops: F.batch_norm, torch.sin
# Batch norm in training mode whatever the module's mode: it moves the statistics.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.register_buffer("mean", torch.zeros(c))
        self.register_buffer("var", torch.ones(c))

    def forward(self, x):
        return F.batch_norm(torch.sin(x), self.mean, self.var, training=True)


def get_inputs():
    return [torch.randn(8, 6, 15)]


def get_init_inputs():
    return [6]
