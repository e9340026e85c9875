# invalid/label
# ops: nn.Sequential
# Its only label is a container: nothing is computed.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Identity())
    def forward(self, x):
        return self.body(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
