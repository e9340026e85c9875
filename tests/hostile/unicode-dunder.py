# reaches a dunder by an attribute in mathematical letters
# past: invalid/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

assert not ().__𝒸𝓁𝒶𝓈𝓈__.__𝖻𝖺𝗌𝖾__.__𝘴𝘶𝘣𝘤𝘭𝘢𝘴𝘴𝘦𝘴__()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
