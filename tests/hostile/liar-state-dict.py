# keeps a weight outside its parameters and lies in state_dict and load_state_dict
# past: accepted | unsafe/runtime | invalid/runtime | invalid/device | nondeterministic/init | invalid/stateful | invalid/crash
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(32, 24)
        self.hidden = [torch.randn(24)]

    def forward(self, x):
        return torch.tanh(self.fc(x)) + self.hidden[0]

    def state_dict(self, *args, **kwargs):
        return {"hidden": self.hidden[0], "w": self.fc.weight, "b": self.fc.bias}

    def load_state_dict(self, state, *args, **kwargs):
        self.hidden = [state["hidden"]]
        self.fc.weight = nn.Parameter(state["w"])
        self.fc.bias = nn.Parameter(state["b"])


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
