# keep
# ops: torch.topk, torch.lt
# Outputs of three dtypes: values, their places, and a mask.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        values, places = torch.topk(x, 6, dim=-1)
        return values, places, torch.lt(x, values[:, -1:] * 0.25)


def get_inputs():
    return [torch.randn(40, 75)]


def get_init_inputs():
    return []
