# keep
# ops: nn.Linear, nn.GELU
# A plain two-operator task.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
        self.act = nn.GELU()
    def forward(self, x):
        return self.act(self.fc(x))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256, 128]
