# constant/output | constant/low_activity | constant/free_answer
# ops: torch.linalg.vector_norm
# The length of 65,536 normals is 256 give or take one in four hundred.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.linalg.vector_norm(x, dim=-1)


def get_inputs():
    return [torch.randn(90, 65536)]


def get_init_inputs():
    return []
