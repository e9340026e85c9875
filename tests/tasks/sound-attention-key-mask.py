# keep
# ops: nn.Linear, F.scaled_dot_product_attention
# Attention with query, memory and a boolean mask, of which every row keeps at least one key.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.kv = nn.Linear(d, 2 * d)
        self.heads = heads

    def forward(self, x, memory, keep):
        b, n, d = x.shape
        q = self.q(x).view(b, n, self.heads, -1).transpose(1, 2)
        k, v = self.kv(memory).view(b, memory.shape[1], 2, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        return y.transpose(1, 2).reshape(b, n, d)


def get_inputs():
    keep = torch.rand(3, 9) > 0.4
    keep[:, 0] = True
    return [torch.randn(3, 7, 32), torch.randn(3, 9, 32), keep]


def get_init_inputs():
    return [32, 4]
