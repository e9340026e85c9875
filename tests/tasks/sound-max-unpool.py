# keep
# ops: nn.MaxPool2d, nn.MaxUnpool2d, torch.add
# flags: free_answer
# Pooled with its places and put back there: three quarters of the branch are zeros, not of the sum.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.back = nn.MaxUnpool2d(2)

    def forward(self, x, y):
        values, places = self.pool(x)
        return torch.add(self.back(values, places), y)


def get_inputs():
    return [torch.randn(2, 3, 12, 12), torch.randn(2, 3, 12, 12)]


def get_init_inputs():
    return []
