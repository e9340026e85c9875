# keep
# ops: torch.scatter, torch.asin
# Places drawn without repetition: no two values go to the same.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, places):
        return torch.scatter(torch.zeros(x.shape[0], 64, device=x.device), 1, places, torch.asin(x))


def get_inputs():
    return [torch.rand(12, 40) * 1.8 - 0.9, torch.argsort(torch.rand(12, 64), dim=-1)[:, :40]]


def get_init_inputs():
    return []
