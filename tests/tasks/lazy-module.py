# nondeterministic/init
# ops: nn.LazyLinear, nn.ReLU
# A lazy module has no weights to load until its first call, so two instances cannot be matched.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.LazyLinear(64)
    def forward(self, x):
        return F.relu(self.fc(x))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
