# keep
# ops: nn.MultiheadAttention
# Attention with a mask of its own; output and weights are both returned.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, 2, kdim=k, vdim=k, batch_first=True)

    def forward(self, x, memory, mask):
        y, weights = self.attention(x * 3.0, memory * 3.0, memory, attn_mask=mask, need_weights=True)
        return y, weights


def get_inputs():
    return [torch.randn(3, 6, 16), torch.randn(3, 5, 10), torch.randn(6, 5)]


def get_init_inputs():
    return [16, 10]
