# constant/free_answer
# ops: torch.sum, torch.square
# Each of 100 sums of 4,096 numbers is 3,413 give or take one in 180: that one number passes for nine in ten.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sum(torch.square(x) + 0.5, dim=-1)


def get_inputs():
    return [torch.rand(100, 4096)]


def get_init_inputs():
    return []
