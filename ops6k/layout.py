"""Where the entries of the table of stages lie on the disk."""

from pathlib import Path

from ops6k.params import Params
from ops6k.stages import Stage

REPORT = "report.json"
WORK = ".work"
"""Below the data folder: shards, stamps and the lock; no output of any stage."""

COMMITTED = frozenset({"seed_ops"})


def places(path: str, params: Params, data: Path) -> tuple[Path, ...]:
    """Where an entry of the table lies: data/... in the data folder, the rest beside params.yaml."""
    if path == "{target}":
        return (params.path(params.target),)
    if path == "{benchmarks}":
        return tuple(params.path(index) for index in params.dedup.benchmarks)
    return (data / path.removeprefix("data/") if path.startswith("data/") else params.path(path),)


def output(stage: Stage, params: Params, data: Path) -> Path:
    return places(stage.writes, params, data)[0]


def report_path(stage: Stage, params: Params, data: Path) -> Path:
    """Beside the output, or in the work folder where the output is committed: seconds would show as a change there."""
    if stage.writes in COMMITTED:
        return data / WORK / "reports" / f"{stage.name}.json"
    return output(stage, params, data) / REPORT
