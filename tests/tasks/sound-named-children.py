# keep
# ops: nn.Linear, nn.Softsign
# Children walked in the order in which they were made.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.one = nn.Linear(d, 2 * d)
        self.act = nn.Softsign()
        self.two = nn.Linear(2 * d, d)

    def forward(self, x):
        for _, child in self.named_children():
            x = child(x)
        return x


def get_inputs():
    return [torch.randn(20, 22)]


def get_init_inputs():
    return [22]
