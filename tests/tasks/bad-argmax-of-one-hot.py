# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: F.one_hot, torch.argmax, F.embedding
# The place of the one is the index.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(50, 8))

    def forward(self, i):
        return F.embedding(torch.argmax(F.one_hot(i, 50), dim=-1), self.w)


def get_inputs():
    return [torch.randint(0, 50, (20, 42))]


def get_init_inputs():
    return []
