# constant/removable_op | constant/dead_input
# ops: torch.sum, nn.CrossEntropyLoss
# The loss adds 6 to a sum whose tolerance band is far wider: dropping it goes unseen.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, a, y):
        return torch.sum(a * 100.0) - F.cross_entropy(a, y)


def get_inputs():
    return [torch.randn(5000, 50), torch.randint(0, 50, (5000,))]


def get_init_inputs():
    return []
