# keep
# ops: nn.Linear, nn.Softplus
# Submodules by name.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.parts = nn.ModuleDict({"mix": nn.Linear(i, o), "act": nn.Softplus(beta=2.0)})

    def forward(self, x):
        return self.parts["act"](self.parts["mix"](x)) - 0.5


def get_inputs():
    return [torch.randn(3, 11, 30)]


def get_init_inputs():
    return [30, 12]
