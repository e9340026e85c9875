# keep
# ops: torch.addcmul, torch.relu
# Inputs that ask for gradients, annotated and detached.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, a, b):
        """Element by element."""
        return torch.relu(torch.addcmul(x.detach(), a, b, value=0.5) + 0.3)


def get_inputs():
    return [torch.randn(20, 24, requires_grad=True), torch.randn(20, 24), torch.randn(20, 1)]


def get_init_inputs():
    return []
