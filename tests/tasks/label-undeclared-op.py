# invalid/label
# ops: nn.MaxPool2d
# Uses argmax-pooling and sigmoid, declares only the pooling.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2)
    def forward(self, x):
        return torch.sigmoid(self.pool(x)) * 3.0


def get_inputs():
    return [torch.randn(4, 4, 24, 24)]


def get_init_inputs():
    return []
