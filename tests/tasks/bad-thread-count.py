# unsafe/code
# ops: torch.cos, F.celu
# A factor from the machine's threads.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 1.0 + torch.get_num_threads()

    def forward(self, x):
        return F.celu(torch.cos(x) * self.k)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
