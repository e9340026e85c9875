# leaves links to a secret where its answer, its error output and its phase belong
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os
for name in ("answer.json", "stderr", "phase"):
    try:
        os.unlink(name)
    except OSError:
        pass
    os.symlink("@TMPFILE@", name)
os._exit(0)


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
