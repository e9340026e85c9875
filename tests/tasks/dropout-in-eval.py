# constant/removable_op
# ops: nn.Linear, nn.Dropout, nn.ReLU
# Not random: dropout does nothing in eval mode. But then the declared operator is free.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
        self.drop = nn.Dropout(0.3)
    def forward(self, x):
        return F.relu(self.drop(self.fc(x)))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256, 128]
