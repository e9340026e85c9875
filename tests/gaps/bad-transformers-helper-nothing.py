# invalid/label | constant/removable_op
# ops: transformers.LlamaRMSNorm, nn.Linear
# A helper named like a norm that adds one.
import torch
import torch.nn as nn
import torch.nn.functional as F


class LlamaRMSNorm(nn.Module):
    def forward(self, x):
        return x + 1.0


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.norm = LlamaRMSNorm()

    def forward(self, x):
        return self.norm(self.lin(x))


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return [42]
