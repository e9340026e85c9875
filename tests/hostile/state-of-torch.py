# changes the default dtype, the threads, the precision and the generator for whatever comes next
# past: accepted | invalid/runtime | invalid/compile | constant/fixed_inputs | invalid/device | nondeterministic/repeat | unsafe/runtime
# ops: nn.Linear, torch.tanh
import torch
import torch.nn as nn

torch.set_default_dtype(torch.float64)
torch.set_num_threads(7)
torch.set_float32_matmul_precision("medium")
torch.manual_seed(0)
torch.set_grad_enabled(True)
torch.set_flush_denormal(True)
torch.use_deterministic_algorithms(True)


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
