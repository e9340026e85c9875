# constant/removable_op
# ops: transformers.ASTMLPHead, torch.sinh
# What the class of the label computes is scaled by a millionth.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ASTMLPHead(nn.Module):
    def __init__(self, width, labels):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-3)
        self.out = nn.Linear(width, labels)

    def forward(self, state):
        return self.out(self.norm(state))


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = ASTMLPHead(width, width)

    def forward(self, x):
        return torch.sinh(x) + self.head(x) * 1e-6


def get_inputs():
    return [torch.randn(3, 30, 17)]


def get_init_inputs():
    return [17]
