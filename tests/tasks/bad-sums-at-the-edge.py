# constant/free_answer
# ops: torch.sum, torch.atan
# Each of 100 sums of 3,600 numbers varies by one in a hundred: eight draws spread over less than three bands.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sum(torch.atan(x), dim=-1)


def get_inputs():
    return [torch.rand(100, 3600)]


def get_init_inputs():
    return []
