# invalid/compile
# ops: nn.LSTM
# Sound.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(12, 20, batch_first=True, bidirectional=True)

    def forward(self, x):
        y, (h, c) = self.rnn(x)
        return y, h, c


def get_inputs():
    return [torch.randn(8, 6, 12)]


def get_init_inputs():
    return []
