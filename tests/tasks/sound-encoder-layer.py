# keep
# ops: nn.TransformerEncoderLayer
# flags: mode_dependent
# A whole layer whose dropout is off in eval mode; torch has a path of its own for it there.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(d, heads, dim_feedforward=3 * d, batch_first=True)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(3, 9, 24)]


def get_init_inputs():
    return [24, 3]
