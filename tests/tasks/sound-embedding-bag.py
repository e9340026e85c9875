# keep
# ops: nn.EmbeddingBag
# Weighted bags of embeddings, integer places.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.bag = nn.EmbeddingBag(n, d, mode="sum")

    def forward(self, tokens, weights):
        return self.bag(tokens, per_sample_weights=weights)


def get_inputs():
    return [torch.randint(0, 100, (22, 7)), torch.rand(22, 7)]


def get_init_inputs():
    return [100, 30]
