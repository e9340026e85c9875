# constant/removable_op
# ops: nn.Linear, torch.add, torch.softmax
# A constant added before softmax over the same axis cancels.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(256, 32)
    def forward(self, x):
        return torch.softmax(4.0 * self.fc(x) + 3.0, dim=-1)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
