# keep
# ops: torch.addmm, torch.relu
# Annotations, docstrings, assertions and a conditional expression on plain numbers.
import torch
import torch.nn as nn
import torch.nn.functional as F


from typing import Optional

from torch import Tensor


class Model(nn.Module):
    def __init__(self, alpha: float, square: bool = True):
        super().__init__()
        """alpha: weight of the product."""
        self.alpha, self.square = alpha, square

    def forward(self, bias: Tensor, a: Tensor, b: Tensor, lift: Optional[float] = None):
        """bias: (N, M)."""
        assert a.shape[1] == b.shape[0], "inner sizes differ"
        y: Tensor = torch.addmm(bias, a, b, beta=0.5, alpha=self.alpha)
        y = torch.relu(y) if lift is None else y + lift
        return y * y if self.square else y


def get_inputs():
    return [torch.randn(23, 17), torch.randn(23, 12), torch.randn(12, 17)]


def get_init_inputs():
    return [0.4]
