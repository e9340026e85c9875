# keep
# ops: torch.bitwise_xor, torch.bitwise_and
# Integers throughout, no floating point anywhere.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b, mask):
        return torch.bitwise_and(torch.bitwise_xor(a, b), mask)


def get_inputs():
    return [torch.randint(0, 4096, (30, 60)), torch.randint(0, 4096, (30, 60)), torch.randint(0, 4096, (60,))]


def get_init_inputs():
    return []
