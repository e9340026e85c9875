# walks frames from a generator's gi_frame
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

def steps():
    yield GENERATOR.gi_frame.f_back.f_back
GENERATOR = steps()
FRAME = next(GENERATOR)
print(FRAME.f_globals["__name__"])


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
