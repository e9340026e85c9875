# invalid/label
# ops: nn.ConvTranspose1d, nn.ReLU
# Declares a transposed convolution that the code does not have.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose2d(4, 8, 3)
    def forward(self, x):
        return F.relu(self.conv(x))


def get_inputs():
    return [torch.randn(4, 4, 24, 24)]


def get_init_inputs():
    return []
