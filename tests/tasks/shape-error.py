# invalid/runtime
# ops: nn.Linear
# The linear layer expects 255 features.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(255, 10)
    def forward(self, x):
        return self.fc(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
