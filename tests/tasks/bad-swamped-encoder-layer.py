# constant/removable_op
# ops: nn.TransformerEncoderLayer
# A whole layer, scaled by a millionth.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(d, heads, dim_feedforward=2 * d, batch_first=True)

    def forward(self, x):
        return x * 2.0 + self.layer(x) * 1e-6


def get_inputs():
    return [torch.randn(3, 10, 24)]


def get_init_inputs():
    return [24, 4]
