# keep
# ops: F.one_hot, torch.sum
# Integer in, integer out: how often each of twelve tokens stands in a row.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes

    def forward(self, tokens):
        return F.one_hot(tokens, self.classes).sum(dim=1)


def get_inputs():
    return [torch.randint(0, 12, (32, 90))]


def get_init_inputs():
    return [12]
