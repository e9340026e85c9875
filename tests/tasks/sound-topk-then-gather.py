# keep
# ops: torch.topk, torch.gather, torch.sinh
# The places of the largest scores pick the rows of something else; the scores themselves go no further.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, scores, values):
        _, places = torch.topk(scores, 4, dim=-1)
        return torch.gather(torch.sinh(values), 1, places)


def get_inputs():
    return [torch.randn(26, 19), torch.randn(26, 19)]


def get_init_inputs():
    return []
