# invalid/ill_conditioned | nondeterministic/repeat
# ops: torch.sort
# Eight different values among a hundred: torch promises no order among equals, so a correct kernel may answer otherwise.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.sort(x, dim=-1).indices


def get_inputs():
    return [torch.randint(0, 8, (30, 100))]


def get_init_inputs():
    return []
