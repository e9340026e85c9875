# keep
# ops: F.linear, F.elu
# Arguments that bear the names of builtins and of torch's own arguments.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, input, weight, bias):
        return F.elu(F.linear(input, weight, bias), alpha=0.7)


def get_inputs():
    return [torch.randn(17, 29), torch.randn(23, 29) * 0.3, torch.randn(23)]


def get_init_inputs():
    return []
