"""Answers with sound tasks of our own, for a server without a model."""

import hashlib
import json
import random
import re

_ELEMENTWISE = (
    "F.silu",
    "F.gelu",
    "F.softsign",
    "F.mish",
    "F.softplus",
    "F.elu",
    "torch.sin",
    "torch.atan",
    "torch.tanh",
    "torch.asinh",
)
_MODULES = {
    "nn.Linear": "nn.Linear(width, width, dtype=DTYPE)",
    "nn.LayerNorm": "nn.LayerNorm(width, dtype=DTYPE)",
    "nn.RMSNorm": "nn.RMSNorm(width, dtype=DTYPE)",
}


def scripted(prompt: str) -> str:
    """A sound task for each that the prompt asks for: a chain of its depth, dtype and size, not of its operators."""
    parts = re.split(r"^# Program \d+$", prompt, flags=re.M)[1:] or [prompt]
    return "\n".join(_answer(part) for part in parts)


def structured(text: str) -> str:
    """The same answer as a JSON schema asks for it."""
    tasks = re.findall(r"```python\n# ops: (\[.*?\])\n(.*?)```", text, re.S)
    return json.dumps({"tasks": [{"ops": json.loads(ops), "code": code} for ops, code in tasks]})


def _answer(prompt: str) -> str:
    draw = random.Random(hashlib.sha256(prompt.encode()).digest())
    depth = int(_found(r"exactly (\d) operator", prompt, "3"))
    dtype = _found(r"outputs: (\w+)", prompt, "float32")
    labels = draw.sample(_ELEMENTWISE, max(0, depth - draw.randint(1, 3))) if depth > 1 else []
    labels += draw.sample(sorted(_MODULES), min(3, depth - len(labels)))
    labels += draw.sample([label for label in _ELEMENTWISE if label not in labels], depth - len(labels))
    draw.shuffle(labels)
    width = draw.choice((192, 256, 320, 384))
    rows = _rows(prompt, width, depth, 4 if dtype == "float32" else 2)
    return f"```python\n# ops: {json.dumps(labels)}\n{_program(labels, rows, width, dtype)}```\n"


def _found(pattern: str, text: str, default: str) -> str:
    match = re.search(pattern, text)
    return match[1].replace(",", "") if match else default


def _rows(prompt: str, width: int, depth: int, item_bytes: int) -> int:
    """Rows that keep to the bytes and the FLOP that the prompt names, whichever is reached first."""
    megabytes, gigaflops = (
        float(_found(r"about ([\d.,]+) MB", prompt, "50")),
        float(_found(r"about ([\d.,]+) GFLOP", prompt, "0.2")),
    )
    by_bytes = megabytes * 1e6 / (2 * depth * width * item_bytes)
    return max(64, int(min(by_bytes, gigaflops * 1e9 / (2 * width * width))))


def _program(labels: list[str], rows: int, width: int, dtype: str) -> str:
    made, calls = [], []
    for number, label in enumerate(labels):
        if label in _MODULES:
            made.append(f"self.part{number} = {_MODULES[label].replace('DTYPE', f'torch.{dtype}')}")
            made += [f"nn.init.uniform_(self.part{number}.weight, 0.4, 1.6)"] if label != "nn.Linear" else []
            made += [f"nn.init.normal_(self.part{number}.bias)"] if label == "nn.LayerNorm" else []
            calls.append(f"x = self.part{number}(x)")
        else:
            calls.append(f"x = {label}(x)")
    indent = "\n        "
    return (
        f"import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\nROWS = {rows}\nWIDTH = {width}\n\n\n"
        f"class Model(nn.Module):\n    def __init__(self, width):\n        super().__init__(){indent}{indent.join(made)}\n\n"
        f"    def forward(self, x):{indent}{indent.join(calls)}{indent}return x\n\n\n"
        f"def get_inputs():\n    return [torch.randn(ROWS, WIDTH).to(torch.{dtype})]\n\n\ndef get_init_inputs():\n    return [WIDTH]\n"
    )
