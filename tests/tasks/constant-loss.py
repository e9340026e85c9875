# constant/output
# ops: nn.MSELoss
# The squared difference of two independent normal tensors is 2.00 however drawn.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.MSELoss()
    def forward(self, a, b):
        return self.loss(a, b)


def get_inputs():
    return [torch.randn(2048, 1024), torch.randn(2048, 1024)]


def get_init_inputs():
    return []
