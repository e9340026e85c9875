"""Harvest: operators of torch and transformers, each tried with real arguments, as sorted JSON lines in seed_ops/.

Every line is a records.Operator, keys in record order. torch.jsonl and transformers.jsonl hold the usable ones.
skipped.jsonl holds what was looked at and left out, usable false and the reason in note: further names of one function,
deprecated names, modelling files that do not import (kind file), and operators that no try could call.
"""

import time
from pathlib import Path

from ops6k.errors import Ops6kError
from ops6k.harvest import lines
from ops6k.harvest.from_torch import harvest_torch
from ops6k.harvest.from_transformers import harvest_transformers
from ops6k.params import Params
from ops6k.records import Funnel, Operator, Report

TOO_FEW = "harvest: {found} usable {library} operators, at least {least} wanted (harvest.min_{library} in params.yaml); {path} is left as it was"


def run(params: Params, data: Path) -> Report:
    """Harvests both libraries and writes seed_ops/. Raises Ops6kError below a minimum, and leaves the old files then."""
    began, limit = time.monotonic(), params.harvest.call_timeout_s
    folder = params.path("seed_ops")
    torch_harvest = harvest_torch(limit)
    _require("torch", torch_harvest.operators, params.harvest.min_torch, folder)
    transformers_harvest = harvest_transformers(limit)
    _require("transformers", transformers_harvest.operators, params.harvest.min_transformers, folder)
    harvests = (torch_harvest, transformers_harvest)
    lines.write(folder, harvests)
    kept = sum(len(harvest.operators) for harvest in harvests)
    skipped = [item for harvest in harvests for item in harvest.skipped]
    return Report(
        stage="harvest",
        taken=kept + len(skipped),
        kept=kept,
        reasons=_reasons(skipped),
        notes=tuple(note for harvest in harvests for note in harvest.notes),
        seconds=time.monotonic() - began,
    )


def _require(library: str, operators: tuple[Operator, ...], least: int, folder: Path) -> None:
    if len(operators) < least:
        raise Ops6kError(TOO_FEW.format(found=len(operators), library=library, least=least, path=folder.name))


def _reasons(skipped: list[Operator]) -> tuple[Funnel, ...]:
    """Counts by what stands before the first colon or `of`: reasons carry names and messages."""
    counts: dict[str, int] = {}
    for item in skipped:
        counts[lines.group(item)] = counts.get(lines.group(item), 0) + 1
    return tuple(Funnel(reason, count) for reason, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
