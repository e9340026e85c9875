# keep
# ops: torch.bitwise_not, torch.bitwise_left_shift
# Bytes in and out, wrapping around.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, by):
        return torch.bitwise_left_shift(torch.bitwise_not(x), by)


def get_inputs():
    return [torch.randint(0, 256, (26, 46), dtype=torch.uint8), torch.randint(0, 3, (26, 46), dtype=torch.uint8)]


def get_init_inputs():
    return []
