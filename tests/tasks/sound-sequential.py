# keep
# ops: nn.Conv1d, nn.CELU, nn.AvgPool1d, nn.Linear
# Everything in one nn.Sequential.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, c, o):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(4, c, 5),
            nn.CELU(0.8),
            nn.AvgPool1d(3),
            nn.Flatten(1),
            nn.Linear(c * 10, o),
        )

    def forward(self, x):
        return self.body(x)


def get_inputs():
    return [torch.randn(9, 4, 34)]


def get_init_inputs():
    return [6, 27]
