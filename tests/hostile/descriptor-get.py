# runs code by a descriptor when the judge looks at the class
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

class Reach:
    def __get__(self, instance, owner):
        torch.os.system("touch @LEFT@-descriptor")
        return owner


class Model(nn.Module):
    reach = Reach()

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)
        self.reach

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
