# constant/removable_op
# ops: nn.Linear, nn.ReLU, torch.relu
# A second ReLU after a ReLU changes nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(256, 64)
        self.act = nn.ReLU()
    def forward(self, x):
        return torch.relu(self.act(self.fc(x)))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []
