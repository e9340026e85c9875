# keep
# ops: nn.Conv1d, F.hardswish, torch.amax
# Branches and loops over plain numbers given to the constructor: one graph, whatever they look like.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, widths, stride, merge):
        super().__init__()
        layers = []
        for i in range(len(widths) - 1):
            layers.append(nn.Conv1d(widths[i], widths[i + 1], 3, stride=stride if i % 2 else 1, padding=1))
        self.layers = nn.ModuleList(layers)
        self.merge = merge

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i + 1 < len(self.layers):
                x = F.hardswish(x)
        if self.merge == "max":
            n = x.shape[-1] // 4
            return x[..., : 4 * n].reshape(x.shape[0], x.shape[1], n, 4).amax(dim=-1)
        return x


def get_inputs():
    return [torch.randn(5, 6, 66)]


def get_init_inputs():
    return [[6, 14, 10, 8], 2, "max"]
