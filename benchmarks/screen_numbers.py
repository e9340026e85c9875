"""What the verdicts of a screen say about its speed: seconds by phase and by end, and how well the dry run predicts."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from ops6k.assemble.figures import png
from ops6k.assemble.join import Story
from ops6k.errors import MissingInput
from ops6k.records import Candidate, Verdict
from ops6k.report.figures import predicted_against_measured
from ops6k.screen import WORK
from ops6k.store import read_rows

PHASES = ("dry_run", "eager", "compile", "timing")
DEVICE, LOCK = "device", "lock"
"""Of eager and compile, at work on the device beside others; of timing, with the device lock: device-seconds."""
MIN_SHARDS = 3
"""Fewer say nothing about a rate."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds of one phase, over the verdicts that reached it."""

    name: str
    reached: int
    median_s: float
    p90_s: float
    each_s: float
    """Summed and divided by all verdicts, those that did not reach it too."""


@dataclass(frozen=True, slots=True)
class End:
    """Candidates that ended with one reason (or accepted)."""

    reason: str
    count: int
    medians_s: dict[str, float]
    """Of each phase, over those that reached it."""
    seconds_share: float
    """Of all seconds of the run, 0-1."""


@dataclass(frozen=True, slots=True)
class Phases:
    verdicts: int
    resized: int
    """Of them, made by resizing others."""
    phases: tuple[Spread, ...]
    ends: tuple[End, ...]
    wall_s: float | None
    wall_from: str
    """Where the wall time is from, or why it is not known."""
    per_second: float | None
    """Verdicts a second."""
    lock_share: float | None
    """Of the wall time, 0-1, that the device lock is held: above about 0.8 the device is the bottleneck."""
    children: float | None
    """Children at work at once, on average, those that wait left out."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Measured over predicted eager time, over all verdicts that have both."""

    pairs: int
    ratio: float
    """Geometric mean of measured / predicted: 1 is no bias."""
    spearman: float
    """Rank correlation, -1 to 1."""
    within_2: float
    """Share (0-1) within a factor of 2 either way."""
    within_3: float


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The shards of one work folder of the screen."""

    folder: Path
    verdicts: tuple[Verdict, ...]
    resized: int
    wall_s: float | None
    """From the times of the shard files."""


def read_run(folder: Path) -> FinishedRun:
    """A run's shards. folder: a data folder, its .work/screen, or one keyed folder in that; of several the newest is taken.

    Whatever code and limits made them: nothing is compared with the present ones. Raises MissingInput where none are there.
    """
    shards = _shards(folder)
    rows = [read_rows(shard, Verdict) for shard in shards]
    derived = sum(len(read_rows(shard.with_suffix(".derived.parquet"), Candidate)) for shard in shards)
    wall_s = _wall_s([shard.stat().st_mtime for shard in shards], [len(some) for some in rows])
    return FinishedRun(shards[0].parent, tuple(v for some in rows for v in some), derived, wall_s)


def _shards(folder: Path) -> list[Path]:
    """Verdict files of one run, in the order in which they were written."""
    below = next((place for place in (folder / WORK, folder) if place.is_dir()), folder)
    files = [file for file in below.rglob("*.parquet") if not file.name.endswith(".derived.parquet") and file.name[0] != "."]
    if not files:
        raise MissingInput(f"{folder}: no verdict shards; give a data folder, or the .work/screen of one")
    files.sort(key=lambda file: file.stat().st_mtime)
    return [file for file in files if file.parent == files[-1].parent]


def _wall_s(written: Sequence[float], rows: Sequence[int]) -> float | None:
    """Wall seconds of the whole run at the rate between its first and its last shard; None where that cannot be told.

    written: modification times in order. A pause counts, and a copy that does not keep times spoils it.
    """
    span = written[-1] - written[0]
    return span * sum(rows) / sum(rows[1:]) if len(rows) >= MIN_SHARDS and span > 0 else None


def total_s(verdicts: Sequence[Verdict]) -> float:
    """All phases of all verdicts."""
    return sum(sum(seconds_of(verdicts, phase)) for phase in PHASES)


def phases_of(verdicts: Sequence[Verdict], wall_s: float | None, wall_from: str, resized: int = 0) -> Phases:
    """The seconds of a run's verdicts. wall_s: of the run, start-up left out; None where it is not known."""
    lock_s = sum(seconds_of(verdicts, LOCK))
    if wall_s is not None and wall_s < lock_s:  # one at a time holds it
        wall_s, wall_from = None, f"{wall_from}: {wall_s:.0f} s cannot be, the lock was held for {lock_s:.0f} s"
    return Phases(
        verdicts=len(verdicts),
        resized=resized,
        phases=tuple(_spread(verdicts, phase) for phase in (*PHASES, DEVICE, LOCK)),
        ends=_ends(verdicts),
        wall_s=wall_s,
        wall_from=wall_from,
        per_second=len(verdicts) / wall_s if wall_s else None,
        lock_share=lock_s / wall_s if wall_s else None,
        children=total_s(verdicts) / wall_s if wall_s else None,
    )


def seconds_of(verdicts: Sequence[Verdict], phase: str) -> list[float]:
    """Seconds of one phase of the verdicts that reached it."""
    found = [getattr(v.seconds, phase) for v in verdicts if v.seconds]
    return [s for s in found if s is not None]


def quantile(values: Sequence[float], share: float) -> float:
    """NaN where there are none."""
    return float(np.quantile(values, share)) if values else math.nan


def _spread(verdicts: Sequence[Verdict], phase: str) -> Spread:
    found = seconds_of(verdicts, phase)
    return Spread(phase, len(found), quantile(found, 0.5), quantile(found, 0.9), sum(found) / max(len(verdicts), 1))


def _ends(verdicts: Sequence[Verdict]) -> tuple[End, ...]:
    """The commonest first."""
    by_reason: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_reason[str(verdict.reason or verdict.outcome)].append(verdict)
    all_s = total_s(verdicts) or 1.0
    ends = [End(reason, len(some), _medians_s(some), total_s(some) / all_s) for reason, some in by_reason.items()]
    return tuple(sorted(ends, key=lambda end: -end.count))


def _medians_s(verdicts: Sequence[Verdict]) -> dict[str, float]:
    return {phase: quantile(seconds_of(verdicts, phase), 0.5) for phase in PHASES}


def prediction_of(verdicts: Sequence[Verdict]) -> Prediction | None:
    """None where fewer than three verdicts were both predicted and timed."""
    pairs = [(v.work.predicted_ms, v.timing.eager_ms) for v in verdicts if v.work and v.timing]
    if len(pairs) < 3:
        return None
    predicted, measured = np.array(pairs).T
    logs = np.log(measured / predicted)
    return Prediction(
        pairs=len(pairs),
        ratio=float(np.exp(logs.mean())),
        spearman=float(spearmanr(predicted, measured).statistic),
        within_2=float((np.abs(logs) <= math.log(2)).mean()),
        within_3=float((np.abs(logs) <= math.log(3)).mean()),
    )


def draw(verdicts: Sequence[Verdict], found: Prediction, folder: Path) -> Path:
    """The report's plot of measured over predicted time with the numbers in it, as a PNG file."""
    unknown = Candidate("", (), "", "", 0, "", ())
    figure = predicted_against_measured([Story(unknown, verdict, (), None) for verdict in verdicts])
    figure.axes[0].set_title(
        f"n = {found.pairs}, measured / predicted {found.ratio:.2f} (geometric mean)\nSpearman {found.spearman:.2f}, "
        f"within a factor of 2: {found.within_2:.0%}, of 3: {found.within_3:.0%}",
        fontsize=8,
    )
    return png(figure, folder / "predicted_against_measured.png")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their heads, the first to the left, the others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )
