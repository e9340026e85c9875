"""How much slower operators run than a target's rates say, learned from eager runs of the composer's own tasks.

A sort, a transposed copy or a strided pool moves bytes at a fraction of the bandwidth that elementwise operators reach. The
factor of each ATen operator is fitted so that the sum over a task's operators comes near its measured time: least absolute
error of the logarithm, drawn towards the common factor where an operator is rare.
"""

from collections.abc import Sequence

import numpy as np
import torch

from ops6k.errors import ParamsError
from ops6k.records import Candidate
from ops6k.screen.dry_run import DryRun, dry_run_code
from ops6k.screen.finding import Finding, attempt
from ops6k.screen.instances import make_inputs, make_model
from ops6k.screen.load import load_task
from ops6k.screen.timing import FLUSH_BYTES, one_run
from ops6k.target import Target

REPEATS = 5
STEPS, RATE = 1500, 0.03
DRAWN = 0.005
"""Weight of the squared logarithm of a factor beside the mean absolute error."""
RANGE = (0.3, 30.0)


def measured(candidates: Sequence[Candidate], target: Target) -> list[tuple[dict[str, float], float]]:
    """(predicted ms by operator, measured eager ms) of each task that fits and runs. In this process: for our own tasks alone."""
    if foreign := next((c for c in candidates if c.source != "composer"), None):
        raise ParamsError(f"{foreign.candidate_id} is not of the built-in composer: its code may not run outside the sandbox")
    pairs = []
    for candidate in candidates:
        found = dry_run_code(candidate.code, target)
        if isinstance(found, DryRun) and found.work.peak_bytes < 0.6 * target.memory_gib * 2**30:
            ms = attempt(lambda: _eager_ms(candidate.code, target.device))  # noqa: B023 - called at once
            if not isinstance(ms, Finding):
                pairs.append((found.terms, ms))
    return pairs


def _eager_ms(code: str, device: str) -> float:
    task = load_task(code)
    with torch.no_grad():
        model, inputs = make_model(task, device, 0), make_inputs(task, device, 0)
        flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=device) if device == "cuda" else None
        model(*inputs)
        times = [one_run(lambda: model(*inputs), device, flush)[0] for _ in range(REPEATS)]
    return float(np.median(times))


def fit(pairs: Sequence[tuple[dict[str, float], float]]) -> dict[str, float]:
    """Factors by operator, "other" first: the common one, for operators never seen."""
    names = sorted({name for terms, _ in pairs for name in terms})
    terms = torch.tensor([[row.get(name, 0.0) for name in names] for row, _ in pairs], dtype=torch.float64)
    wanted = torch.tensor([ms for _, ms in pairs], dtype=torch.float64).log()
    common = (wanted - terms.sum(1).log()).median()
    own = torch.zeros(len(names), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([own], lr=RATE)
    with torch.enable_grad():
        for _ in range(STEPS):
            optimizer.zero_grad()
            error = ((terms * (common + own).exp()).sum(1).log() - wanted).abs().mean() + DRAWN * (own**2).sum()
            error.backward()
            optimizer.step()
    factors = (common + own.detach()).exp().clamp(*RANGE)
    return {"other": round(float(common.exp()), 2)} | {n: round(float(f), 2) for n, f in zip(names, factors, strict=True)}


def quality(pairs: Sequence[tuple[dict[str, float], float]], slowdown: dict[str, float]) -> tuple[float, float]:
    """(median of measured over predicted, share within a factor of 2)."""
    other = slowdown.get("other", 1.0)
    ratios = np.array([ms / sum(slowdown.get(name, other) * part for name, part in terms.items()) for terms, ms in pairs])
    return float(np.median(ratios)), float(np.mean((ratios > 0.5) & (ratios < 2)))
