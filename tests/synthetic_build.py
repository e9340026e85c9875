"""A made-up build for the tests of assemble and report: real records, runnable code, no screen needed."""

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ops6k.params import (
    AssembleParams,
    DedupParams,
    FuseParams,
    HarvestParams,
    MixParams,
    Params,
    PublishParams,
    ScreenParams,
    TrainParams,
)
from ops6k.records import (
    Candidate,
    Checks,
    Environment,
    Funnel,
    Match,
    Operator,
    Outcome,
    PhaseSeconds,
    Reason,
    Report,
    Timing,
    Verdict,
    Work,
    candidate_id,
)
from ops6k.store import to_plain, write_json, write_rows

UNARY = ("F.relu", "torch.sigmoid", "torch.tanh", "F.silu", "F.softplus", "torch.sin", "torch.cos", "F.gelu")
CPU = Environment("cpu", "cpu", None, "2.13.0+cpu", None, "3.11.9", "highest", False)
H200 = Environment("h200", "NVIDIA H200", "570.1", "2.11.0", "3.6.0", "3.12.4", "highest", False)

_CODE = """import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE = {size}


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        y = x * self.scale
{calls}
        return y


def get_inputs():
    return [torch.randn(SIZE, 8)]


def get_init_inputs():
    return [8]
"""


@dataclass(frozen=True, slots=True)
class Build:
    """The tables of a build before they are written."""

    candidates: list[Candidate]
    verdicts: list[Verdict]
    matches: list[Match]
    clusters: list[tuple[str, str]]


def candidate(
    number: int, depth: int, dtype: str = "float32", *, transformers: bool = False, source: str = "composer"
) -> Candidate:
    """A candidate whose code is its own (the size is the number) and runs."""
    ops = tuple(UNARY[(number + step) % len(UNARY)] for step in range(depth))
    if transformers:
        ops = (*ops[:-1], "transformers.NewGELUActivation")
    calls = "\n".join(f"        y = {'F.gelu' if op.startswith('transformers') else op}(y)" for op in ops)
    code = _CODE.format(size=number + 1, calls=calls)
    return Candidate(candidate_id(ops, code), ops, code, source, number, dtype, ("activation",) * depth)


def accepted(made: Candidate, *, eager_ms: float = 2.0, environment: Environment = CPU) -> Verdict:
    timing = Timing(eager_ms, 0.98 * eager_ms, 1.02 * eager_ms, eager_ms + 0.01, eager_ms / 1.25, eager_ms / 1.2, 15, False)
    work = Work(64_000_000, 16_000_000, 4_000_000, 48_000_000, 0.9 * eager_ms, 0.25 * eager_ms, 3.6, 8, ("aten.mul", "aten.relu"))
    checks = Checks(True, False, 0.9, (0.95,), 0.4, 0.02, "zeros", 1e-3, 1e-3, made.candidate_id[:8])
    seconds = PhaseSeconds(0.02, 0.3, 2.0, 0.1, 0.1)
    return Verdict(made.candidate_id, Outcome.ACCEPTED, None, "passed", "timing", work, checks, timing, environment, seconds)


def rejected(made: Candidate, reason: Reason, message: str = "seen", phase: str = "eager") -> Verdict:
    work = Work(1_000, 500, 0, 2_000, 0.5, 0.1, 5.0, 8, ("aten.relu",))
    return Verdict(made.candidate_id, reason.outcome, reason, message, phase, work=work, environment=CPU)


def benchmark_match(made: Candidate, score: float, reason: Reason | None = None) -> Match:
    return Match(made.candidate_id, "text", score, "19_ReLU", "kernelbench", 1, reason)


def plain_build(cells: Iterable[tuple[int, str, bool]], *, environment: Environment = CPU) -> Build:
    """An accepted candidate, alone in its cluster, for each (depth, dtype, uses transformers)."""
    made = [candidate(number, depth, dtype, transformers=with_) for number, (depth, dtype, with_) in enumerate(cells)]
    verdicts = [accepted(c, eager_ms=1.0 + 0.1 * (c.seed % 50), environment=environment) for c in made]
    matches = [benchmark_match(c, 0.2 + 0.005 * (c.seed % 100)) for c in made]
    return Build(made, verdicts, matches, [(c.candidate_id, c.candidate_id) for c in made])


def mixed_build(count: int = 120, seed: int = 0) -> Build:
    """As a screen leaves it: about half accepted, a copy, a near duplicate, a resized candidate, clusters of up to four."""
    rng = random.Random(seed)
    dtypes = ("float32", "float32", "bfloat16", "float16")
    cells = [(rng.randint(1, 5), rng.choice(dtypes), rng.random() < 0.1) for _ in range(count)]
    build = plain_build(cells)
    reasons = (Reason.RUNTIME, Reason.CONSTANT_OUTPUT, Reason.RANDOM_OP, Reason.TIMEOUT)
    for place in range(1, count, 3):
        build.verdicts[place] = rejected(build.candidates[place], reasons[place % len(reasons)])
    for place, (id_, _) in enumerate(build.clusters):
        build.clusters[place] = (id_, f"c{rng.randint(0, count // 2)}")
    copy, near = build.candidates[0], build.candidates[2]
    build.matches[0] = benchmark_match(copy, 0.98, Reason.BENCHMARK)
    build.matches.append(Match(near.candidate_id, "text", 0.95, build.candidates[3].candidate_id, None, None, Reason.NEAR))
    _resize_one(build)
    return build


def _resize_one(build: Build) -> None:
    """The last candidate is too fast; the screen derives a larger one, which passes."""
    small = candidate(9000, 2)
    large = replace(candidate(9001, 2), parent=small.candidate_id, round=1)
    build.candidates.extend((small, large))
    build.verdicts.extend((rejected(small, Reason.TOO_FAST, "0.2 ms, window 1-100 ms", "timing"), accepted(large)))
    build.clusters.append((large.candidate_id, large.candidate_id))


def write_build(build: Build, root: Path) -> Path:
    """The folders that earlier stages leave, under root/data, and root/seed_ops; returns root/data."""
    data = root / "data"
    write_rows(data / "candidates" / "candidates.parquet", [c for c in build.candidates if c.round == 0], Candidate)
    write_rows(data / "verdicts" / "candidates.parquet", [c for c in build.candidates if c.round > 0], Candidate)
    write_rows(data / "verdicts" / "verdicts.parquet", build.verdicts, Verdict)
    write_rows(data / "matches" / "matches.parquet", build.matches, Match)
    ids, clusters = zip(*build.clusters, strict=True) if build.clusters else ((), ())
    table = pa.table({"candidate_id": pa.array(ids, pa.string()), "cluster": pa.array(clusters, pa.string())})
    pq.write_table(table, data / "matches" / "clusters.parquet")
    made = sum(c.round == 0 for c in build.candidates)
    write_json(
        data / "candidates" / "report.json", to_plain(Report("fuse", made + 7, made, (Funnel("dry run failed", 7),), (), 1.5))
    )
    write_operators(root / "seed_ops")
    return data


def write_operators(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for library, names in (("torch", UNARY), ("transformers", ("transformers.NewGELUActivation", "transformers.Broken"))):
        lines = [json.dumps(to_plain(_operator(library, name))) for name in names]
        (folder / f"{library}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _operator(library: str, name: str) -> Operator:
    usable = name != "transformers.Broken"
    return Operator(name, library, "2.13.0" if library == "torch" else "5.24.0", "m", "function", "activation", "(x)", "Does.", 1, (1, 2),
                    ("float32",), False, usable, "" if usable else "fails to import", None)  # fmt: skip


def params(
    root: Path, rows: int, short: str = "stop", *, splits: Sequence[float] = (0.8, 0.1, 0.1), mix: MixParams | None = None
) -> Params:
    """Parameters of a small build; the default mix is that of a full one."""
    mix = mix or MixParams(
        {1: 0.05, 2: 0.35, 3: 0.25, 4: 0.2, 5: 0.15}, {"float32": 0.6, "bfloat16": 0.25, "float16": 0.15}, 0.05
    )
    return Params(
        preset="full",
        seed=0,
        target="data/targets/cpu.yaml",
        mix=mix,
        harvest=HarvestParams(),
        fuse=FuseParams(),
        screen=ScreenParams(),
        dedup=DedupParams(),
        assemble=AssembleParams(rows, tuple(splits), short),
        train=TrainParams(),
        publish=PublishParams(),
        root=root,
    )
