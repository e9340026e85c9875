# constant/output
# ops: F.adaptive_avg_pool2d
# The mean of a million normals is 0 within 0.001: at the verifier's 1e-2, zeros pass.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        pass
    def forward(self, x):
        return F.adaptive_avg_pool2d(x, (1, 1))


def get_inputs():
    return [torch.randn(4, 3, 1024, 1024)]


def get_init_inputs():
    return []
