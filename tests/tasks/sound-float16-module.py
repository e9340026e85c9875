# keep
# ops: nn.Linear, nn.Tanh
# Cast to half precision in the constructor.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
        self.act = nn.Tanh()
        self.half()

    def forward(self, x):
        return self.act(self.fc(x) * 2.0)


def get_inputs():
    return [torch.randn(3, 12, 30, dtype=torch.float16)]


def get_init_inputs():
    return [30, 13]
