# constant/free_answer | constant/output
# ops: nn.Linear, torch.softmax
# Softmax over 8,192 classes: every value lies under 1e-2, zeros pass.
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)
    def forward(self, x):
        return torch.softmax(self.fc(x), dim=-1)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return [64, 8192]
