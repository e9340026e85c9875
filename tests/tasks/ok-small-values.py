# keep
# ops: nn.Linear, nn.RMSNorm
# Outputs near 0.05: small, yet five times the tolerance; no free answer matches them.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
        self.norm = nn.RMSNorm(o)
        nn.init.constant_(self.norm.weight, 0.05)
    def forward(self, x):
        return self.norm(self.fc(x))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256, 256]
