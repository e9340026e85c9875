# constant/removable_op
# ops: nn.AlphaDropout, nn.SELU
# Alpha dropout hands its argument on in eval mode.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.AlphaDropout(0.3)
        self.act = nn.SELU()

    def forward(self, x):
        return self.drop(self.act(x))


def get_inputs():
    return [torch.randn(30, 44)]


def get_init_inputs():
    return []
