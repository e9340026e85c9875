# nondeterministic/random_op
# ops: nn.Hardtanh, F.dropout
# F.dropout drops by default, also in eval mode.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Hardtanh()
    def forward(self, x):
        return F.dropout(self.act(x), p=0.5)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
