# constant/removable_op
# ops: F.normalize, F.cosine_similarity
# Cosine similarity normalises by itself.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return F.cosine_similarity(F.normalize(a, dim=-1), b, dim=-1)


def get_inputs():
    return [torch.randn(3, 40, 6), torch.randn(3, 40, 6)]


def get_init_inputs():
    return []
