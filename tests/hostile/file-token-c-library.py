# reads a token file by C++ that no audit hook sees (torch.from_file, torch's file reader)
# past: accepted | unsafe/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

def grab():
    for read in (lambda: torch.from_file("@TMPFILE@", size=8, dtype=torch.uint8), lambda: torch._C.PyTorchFileReader("@TMPFILE@")):
        try:
            raise SystemError(str(read()))
        except RuntimeError:
            pass
grab()


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
