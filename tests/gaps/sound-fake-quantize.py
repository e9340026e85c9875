# keep
# ops: torch.fake_quantize_per_tensor_affine, torch.matmul
# Sound.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(42, 8))

    def forward(self, x):
        return torch.matmul(torch.fake_quantize_per_tensor_affine(x, 0.05, 0, -128, 127), self.w)


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
