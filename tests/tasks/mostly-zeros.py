# constant/free_answer
# ops: nn.Linear, nn.Threshold
# A high threshold leaves 97 % zeros: a kernel that writes zeros is right almost everywhere.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
        self.cut = nn.Threshold(1.1, 0.0)
    def forward(self, x):
        return self.cut(self.fc(x))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256, 256]
