# runs code by a metaclass, __init_subclass__, __class_getitem__ and __set_name__
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

class Meta(type):
    def __new__(mcls, name, bases, space):
        torch.os.system("touch @LEFT@-meta")
        return super().__new__(mcls, name, bases, space)

class Reach:
    def __set_name__(self, owner, name):
        torch.os.system("touch @LEFT@-name")

    def __init_subclass__(cls):
        torch.os.system("touch @LEFT@-subclass")

    def __class_getitem__(cls, item):
        torch.os.system("touch @LEFT@-item")

class Owner(Reach, metaclass=Meta):
    field = Reach()

Owner[0]


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
