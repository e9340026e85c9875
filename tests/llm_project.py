"""A project with a small harvest, for tests of the LLM source."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ops6k import params as parameters
from ops6k import store
from ops6k.fuse.llm import LlmSource
from ops6k.fuse.llm.failure import Patience
from ops6k.fuse.sources import Wanted, wanted
from ops6k.params import Params
from ops6k.records import Candidate, Operator

ROOT = Path(__file__).parent.parent
QUICK = Patience(first_s=0.01, longest_s=0.3, slowest_per_minute=6000, poll_s=0.05)

_ALL = ("float32", "bfloat16", "float16")
_PLAIN = Operator(
    name="", library="torch", version="2.13", module="torch.nn.functional", kind="function", category="activation", signature="op(input)",
    doc="Acts on each element.", arity=1, ranks=(1, 2, 3), dtypes=_ALL, stochastic=False, usable=True, note="", source_hash=None,
)  # fmt: skip
NEVER_DRAWN = ("nn.Identity", "torch.reshape", "torch.nonzero")
"""Usable, but nothing to compute or a shape that depends on values."""
OPERATORS = (
    *(
        replace(_PLAIN, name=f"F.{name}")
        for name in "silu gelu mish elu selu celu softplus softsign hardswish logsigmoid tanhshrink relu6".split()
    ),
    *(replace(_PLAIN, name=f"torch.{name}") for name in "sin cos atan asinh sigmoid tanh erf expm1".split()),
    *(replace(_PLAIN, name=f"nn.{name}", kind="module", category="dense") for name in ("Linear", "Bilinear")),
    *(replace(_PLAIN, name=f"nn.{name}", kind="module", category="normalisation") for name in ("LayerNorm", "RMSNorm")),
    replace(_PLAIN, name="torch.fft.rfft", category="spectral", dtypes=("float32",)),
    *(replace(_PLAIN, name=name, category="shape") for name in NEVER_DRAWN),
    replace(_PLAIN, name="F.dropout", stochastic=True),
    replace(_PLAIN, name="torch.svd", usable=False, note="no derivative"),
    *(replace(_PLAIN, name=f"transformers.{name}", library="transformers", category="gate") for name in ("LlamaMLP", "GatedAct")),
)


def llm_project(root: Path, *settings: str) -> Params:
    """Parameters of a project in `root` with OPERATORS as its harvest and the real prompts."""
    (root / "seed_ops").mkdir(parents=True)
    for library in ("torch", "transformers"):
        lines = [json.dumps(store.to_plain(operator)) + "\n" for operator in OPERATORS if operator.library == library]
        (root / "seed_ops" / f"{library}.jsonl").write_text("".join(lines), encoding="utf-8")
    (root / "seed_ops" / "skipped.jsonl").write_text(
        '{"module": "transformers.models.odd", "reason": "no such import"}\n', encoding="utf-8"
    )
    shutil.copytree(ROOT / "prompts", root / "prompts")
    (root / "data" / "targets").mkdir(parents=True)
    shutil.copy(ROOT / "data" / "targets" / "cpu.yaml", root / "data" / "targets")
    shutil.copy(ROOT / "params.yaml", root)
    return parameters.load(root / "params.yaml", preset="demo", settings=("fuse.llm.model=scripted", *settings))


def many(params: Params, count: int) -> list[Wanted]:
    return [wanted(params.mix, params.seed, index) for index in range(count)]


def source_of(params: Params, patience: Patience = QUICK) -> LlmSource:
    return LlmSource(params, params.root / "work", patience=patience)


def ask(params: Params, count: int, patience: Patience = QUICK) -> tuple[list[Candidate], dict[str, int]]:
    """Candidates, and what was counted as rejected."""
    source = source_of(params, patience)
    candidates: Iterator[Candidate] = source.propose(many(params, count))
    return list(candidates), {funnel.reason: funnel.count for funnel in source.rejections()}


def with_llm(params: Params, **changed: object) -> Params:
    return replace(params, fuse=replace(params.fuse, llm=replace(params.fuse.llm, **changed)))
