# keep
# ops: torch.einsum, nn.Softsign
# Three tensors contracted at once, one of them a parameter.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, a, b, o):
        super().__init__()
        self.core = nn.Parameter(torch.randn(a, b, o) * 0.2)
        self.act = nn.Softsign()

    def forward(self, x, y):
        return self.act(torch.einsum("nia,nib,abo->nio", x, y, self.core))


def get_inputs():
    return [torch.randn(3, 14, 10), torch.randn(3, 14, 12)]


def get_init_inputs():
    return [10, 12, 8]
