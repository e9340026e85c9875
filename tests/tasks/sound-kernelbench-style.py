# keep
# ops: nn.Linear, torch.sigmoid, torch.amin
# The style that such tasks are written in: sizes at the module's level, the old super, a guard at the end.
import math

import torch
import torch.nn as nn

BATCH, WIDTH = 18, 27


class Model(nn.Module):
    """A gate over the smallest of a few numbers."""

    def __init__(self, width: int = WIDTH) -> None:
        super(Model, self).__init__()
        self.fc = nn.Linear(width, 3 * width)
        self.width = width

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x).view(x.shape[0], self.width, 3) / math.sqrt(self.width)
        return torch.sigmoid(y.amin(dim=-1) * 8.0)


def get_inputs():
    return [torch.randn(BATCH, WIDTH)]


def get_init_inputs():
    return [WIDTH]


if __name__ == "__main__":
    print(Model(*get_init_inputs())(*get_inputs()).shape)
