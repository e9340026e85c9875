# starts processes by subprocess, os.system, os.popen, os.posix_spawn and pty
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import os, pty, subprocess
for start in (lambda: subprocess.Popen(["touch", "@LEFT@-popen"]), lambda: os.system("touch @LEFT@-system"), lambda: os.popen("touch @LEFT@-pipe"),
              lambda: os.posix_spawn("/bin/touch", ["touch", "@LEFT@-spawn"], {}), lambda: pty.spawn(["touch", "@LEFT@-pty"])):
    try:
        start()
    except Exception:
        pass


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
