# invalid/output_type
# ops: torch.erf, torch.sinh
# A dict is no tuple of tensors.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return {"erf": torch.erf(x), "sinh": torch.sinh(x)}


def get_inputs():
    return [torch.randn(30, 34)]


def get_init_inputs():
    return []
