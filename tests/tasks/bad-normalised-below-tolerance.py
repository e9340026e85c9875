# constant/free_answer
# ops: F.normalize
# Unit rows of 65,536 elements: nearly all of them lie under the tolerance.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return F.normalize(x, dim=-1)


def get_inputs():
    return [torch.randn(4, 65536)]


def get_init_inputs():
    return []
