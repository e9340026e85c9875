# constant/dead_input | constant/removable_op
# ops: nn.Linear, F.scaled_dot_product_attention
# With one key there is one answer: the value.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.v = nn.Linear(d, d)

    def forward(self, x, y):
        v = self.v(y)
        return F.scaled_dot_product_attention(self.q(x), v, v)


def get_inputs():
    return [torch.randn(12, 1, 28), torch.randn(12, 1, 28)]


def get_init_inputs():
    return [28]
