# keep
# ops: torch.matmul, F.rms_norm
# bfloat16 in and out, float32 inside.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, w, scale):
        y = F.rms_norm(x.float(), (x.shape[-1],), eps=1e-5).to(x.dtype) * scale
        return torch.matmul(y, w)


def get_inputs():
    return [torch.randn(17, 32).bfloat16(), (torch.randn(32, 18) * 0.2).bfloat16(), torch.rand(32).bfloat16() + 0.5]


def get_init_inputs():
    return []
