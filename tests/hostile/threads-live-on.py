# leaves threads behind that go on for ever and write
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import threading, time
def busy():
    while True:
        try:
            open("@LEFT@-thread", "w")
        except Exception:
            time.sleep(0.01)
for _ in range(3):
    threading.Thread(target=busy).start()


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
