# keep
# ops: transformers.ASTMLPHead, torch.log_softmax
# The label names a class of this file; what it does inside is its own business.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ASTMLPHead(nn.Module):
    def __init__(self, width, labels):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-3)
        self.out = nn.Linear(width, labels)
        nn.init.normal_(self.norm.weight, 1.0, 0.3)

    def forward(self, state):
        return self.out(self.norm(state))


class Model(nn.Module):
    def __init__(self, width, labels):
        super().__init__()
        self.head = ASTMLPHead(width, labels)

    def forward(self, x):
        return torch.log_softmax(self.head(x), dim=-1)


def get_inputs():
    return [torch.randn(33, 52)]


def get_init_inputs():
    return [52, 17]
