# constant/removable_op | constant/inactive_op | identity | constant/free_answer
# ops: torch.exp, torch.log, torch.sin
# Undone behind a view.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sin(torch.log(torch.exp(x).t()))


def get_inputs():
    return [torch.randn(20, 42)]


def get_init_inputs():
    return []
