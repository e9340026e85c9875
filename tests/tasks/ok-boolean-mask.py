# keep
# ops: torch.where, nn.LeakyReLU
# A mask argument is boolean; both arguments matter.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.LeakyReLU(0.1)
    def forward(self, x, m):
        return self.act(torch.where(m, x, -x))


def get_inputs():
    return [torch.randn(64, 256), torch.rand(64, 256) > 0.5]


def get_init_inputs():
    return []
