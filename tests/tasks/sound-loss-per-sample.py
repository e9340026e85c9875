# keep
# ops: nn.CrossEntropyLoss, nn.Linear
# A loss without reduction: one number a sample, and they do not concentrate.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.head = nn.Linear(d, classes)
        self.loss = nn.CrossEntropyLoss(reduction="none", label_smoothing=0.1)

    def forward(self, x, labels):
        return self.loss(self.head(x) * 3.0, labels)


def get_inputs():
    return [torch.randn(300, 34), torch.randint(0, 15, (300,))]


def get_init_inputs():
    return [34, 15]
