"""What the fork server does once, so that every child finds it done."""

import contextlib
import sys
import sysconfig

import torch

from ops6k.screen.dry_run import dry_run_code
from ops6k.screen.finding import Finding
from ops6k.screen.judge import run_candidate
from ops6k.target import Target

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 48)
    def forward(self, x):
        return torch.tanh(self.fc(x))

def get_inputs():
    return [torch.randn(32, 64)]

def get_init_inputs():
    return []
"""
MIXED = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.cell = nn.GRUCell(8, 8)
        self.table = nn.Embedding(16, 8)
    def forward(self, x, places):
        y = F.max_pool2d(F.gelu(self.norm(self.conv(x))), 2)
        y = F.interpolate(F.layer_norm(y, y.shape[-1:]), scale_factor=2.0, mode="bilinear").flatten(2).transpose(1, 2)
        y = self.attend(y, y, y)[0] + torch.cumsum(F.scaled_dot_product_attention(y, y, y), dim=1)
        y = torch.sort(y, dim=1).values + torch.einsum("bij,bkj->bik", y, y).softmax(-1).std(-1, keepdim=True)
        y = torch.topk(y, 3, dim=1).values.mean(1) + torch.fft.rfft(y, dim=1).abs().amax(1) + self.table(places)
        return torch.where(y > 0.5, self.cell(y), F.pad(y, (1, 1))[:, 1:-1]).gather(1, places[:, None])

def get_inputs():
    return [torch.randn(2, 4, 10, 10), torch.randint(0, 8, (2,))]

def get_init_inputs():
    return []
"""
"""Operators of many kinds: the first fake run of each imports what it is made of."""
TARGET = Target("warm", "cpu", None, "", 1, 1, "highest", False, 1.0, {"float32": 1.0}, 1.0, "")


def dry_run_once() -> None:
    """Registers fake kernels and FLOP formulas: the first dry run of a process takes a second, the next 10 ms."""
    torch.set_num_threads(1)
    # Dynamo's first use patches nn.Module; done here, it is no change that a candidate made.
    torch._dynamo.mutation_guard.install_generation_tagging_init()
    with contextlib.suppress(ImportError):  # 0.06 s of each child's: Dynamo reads torch's own sources for names of functions
        from torch._dynamo.funcname_cache import get_funcname

        get_funcname(torch.nn.functional.__file__, 1)
    for task in (TASK, MIXED):
        found = dry_run_code(task, TARGET)
        if isinstance(found, Finding):
            raise RuntimeError(f"a task of our own fails its dry run: {found.message}")


def compile_once() -> None:
    """As dry_run_once, and on a CPU one compile: the next costs a child 1-2 s, the first of a process took 9 s."""
    dry_run_once()
    with torch.no_grad():
        torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()).eval())(torch.zeros(4, 8))
    torch._dynamo.reset()


def run_control(payload: dict) -> dict:
    """run_candidate, and the modules that it took: a server that may not touch the device imports them for later children.

    What torch's compiler imports for a GPU are 700 modules; without their bytecode at hand that is 5 s of a child's time.
    """
    answer = run_candidate(payload)
    installed = tuple({sysconfig.get_paths()[name] for name in ("purelib", "platlib", "stdlib")})
    modules = {
        name: spec.origin
        for name, module in list(sys.modules.items())
        if (spec := getattr(module, "__spec__", None)) is not None and spec.name == name and spec.origin
    }
    return answer | {"modules": sorted(name for name, origin in modules.items() if origin.startswith(installed))}


def hash_sources() -> None:
    """The compilers' own sources are part of every cache key: hashed once, not by each child."""
    with contextlib.suppress(ImportError):
        from torch._inductor.codecache import torch_key

        torch_key()
    with contextlib.suppress(ImportError):
        from triton.runtime.cache import triton_key

        triton_key()
