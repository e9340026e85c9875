# runs a command when the judge copies the model
# run: unsafe/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

class Bomb:
    def __deepcopy__(self, memo):
        torch.os.system("touch @LEFT@-deepcopy")
        return self


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)
        self.bomb = Bomb()

    def forward(self, x):
        return torch.tanh(self.fc(x))


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
