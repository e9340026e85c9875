# constant/low_activity | constant/free_answer
# ops: F.threshold
# Only what lies above three deviations goes through.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return F.threshold(x, 3.0, 0.0)


def get_inputs():
    return [torch.randn(300, 80)]


def get_init_inputs():
    return []
