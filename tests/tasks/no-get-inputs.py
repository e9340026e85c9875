# invalid/structure
# ops: nn.ReLU
# No get_inputs().
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def forward(self, x):
        return F.relu(x)


def get_init_inputs():
    return []
