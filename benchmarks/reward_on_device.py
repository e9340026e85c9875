"""Scores Triton solutions, honest and not, on the CUDA device of this machine: what the tests, which have no GPU, cannot show.

    python3 benchmarks/reward_on_device.py [--out FILE.json]

Needs torch, triton, numpy, pyarrow and yaml. Exits with 1 where a status is not the expected one.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ops6k.reward import Scorer

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))
        self.shift = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch.relu(x * self.scale + self.shift) + torch.tanh(x)

def get_inputs():
    return [torch.randn(16384, 4096)]

def get_init_inputs():
    return [4096]
"""
FRAME = """
import torch
import torch.nn as nn
import triton
import triton.language as tl
{top}

@triton.jit
def fused(x, scale, shift, out, width, total, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < total
    value = tl.load(x + at, mask=inside)
    column = at % width
    line = value * tl.load(scale + column, mask=inside) + tl.load(shift + column, mask=inside)
    bent = 2.0 * tl.sigmoid(2.0 * value) - 1.0
    tl.store(out + at, tl.maximum(line, 0.0) + bent, mask=inside)

class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))
        self.shift = nn.Parameter(torch.randn(width))
        self.calls = 0
        self.out = None

    def kernel(self, x):
        out = torch.empty_like(x)
        fused[(triton.cdiv(x.numel(), 2048),)](x, self.scale, self.shift, out, x.shape[1], x.numel(), BLOCK=2048)
        return out

    def forward(self, x):
{forward}
"""


def solution(forward: str, *, top: str = "") -> str:
    body = "\n".join(f"        {line}" for line in forward.splitlines())
    return FRAME.format(forward=body, top=top)


TUNED = solution(
    "out = torch.empty_like(x)\n"
    "fused[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)](x, self.scale, self.shift, out, x.shape[1], x.numel())\n"
    "return out"
).replace("@triton.jit", "@triton.autotune([triton.Config({'BLOCK': b}) for b in (1024, 2048)], key=['total'])\n@triton.jit")
CASES = {
    "kernel": (solution("return self.kernel(x)"), "correct"),
    "tuned": (TUNED, "correct"),
    "torch beside the kernel": (solution("return self.kernel(x) + 0.0"), "torch"),
    "torch after six calls": (
        solution(
            "self.calls += 1\nreturn self.kernel(x) if self.calls < 6 else torch.relu(x * self.scale + self.shift) + torch.tanh(x)"
        ),
        "torch",
    ),
    "one buffer for all": (
        solution("if self.out is None:\n    self.out = self.kernel(x)\nreturn self.out"),
        "wrong",
    ),
    "nothing computed": (solution("return torch.empty_like(x)"), "wrong"),
    "half of it": (solution("out = self.kernel(x)\nout[:8192].zero_()\nreturn out"), "wrong"),
    "another stream": (solution("with torch.cuda.stream(torch.cuda.Stream()):\n    return self.kernel(x)"), "unsafe"),
    "triton's runtime": (solution("return self.kernel(x)", top="import triton.runtime"), "unsafe"),
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    began = time.monotonic()
    row = {"code": TASK, "checks": {"atol": 1e-3, "rtol": 1e-3}, "work": {"peak_bytes": 2**30}}
    with Scorer(device="cuda", workers=8, device_gib=60) as scorer:
        found = scorer.scores([(row, source) for source, _ in CASES.values()], repeats=20, seed=1)
    rows = {name: asdict(score) for name, score in zip(CASES, found, strict=True)}
    print(json.dumps(rows, indent=1))
    print(f"{len(rows)} solutions in {time.monotonic() - began:.1f} s")
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    wrong = [name for name, (_, status) in CASES.items() if rows[name]["status"] != status]
    print("not as expected:", wrong or "none")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
