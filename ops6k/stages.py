"""The one table of stages. The command line, dvc.yaml and the Prefect flow all call it; a test compares dvc.yaml with it.

A stage reads the folders of earlier stages and writes exactly one. `run(params, data)` does the work and returns a Report.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ops6k.params import Params
from ops6k.records import Report


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    does: str
    """One line for --help."""
    function: str
    """module:function, imported when it runs: torch takes seconds."""
    reads: tuple[str, ...]
    """Paths from the project's root; {target} and {benchmarks} come from the parameters."""
    writes: str
    params: tuple[str, ...]
    """Sections of params.yaml that the result depends on. What a model is told of the screen is not among fuse's: answers that were
    paid for are not asked for anew because a threshold moved."""
    code: tuple[str, ...]
    """What of the package it runs, from the project's root."""
    retries: int = 0
    """For what is ours or the network's; a bad candidate is never retried."""
    tags: tuple[str, ...] = ()

    def run(self, params: Params, data: Path) -> Report:
        module, _, name = self.function.partition(":")
        function: Callable[[Params, Path], Report] = getattr(import_module(module), name)
        return function(params, data)


_SHARED = ("ops6k/records.py", "ops6k/store.py", "ops6k/rounds.py", "ops6k/labels.py")
_FUSING = ("ops6k/fuse", "ops6k/screen", "ops6k/sandbox", "ops6k/target.py", *_SHARED)
_SCREENING = ("ops6k/screen", "ops6k/sandbox", "ops6k/target.py", *_SHARED)
_JUDGED = ("data/candidates", "data/verdicts", "data/resized", "data/rescreened")

STAGES = (
    Stage(
        name="harvest",
        does="Harvest operators from torch and transformers into seed_ops/.",
        function="ops6k.harvest:run",
        reads=(),
        writes="seed_ops",
        params=("harvest",),
        code=("ops6k/harvest", *_SHARED),
    ),
    Stage(
        name="fuse",
        does="Fuse up to five operators into candidate tasks (an LLM, or the built-in composer).",
        function="ops6k.fuse:run",
        reads=("seed_ops", "prompts", "{target}"),
        writes="data/candidates",
        params=("seed", "mix", "fuse"),
        code=_FUSING,
        retries=2,
        tags=("llm",),
    ),
    Stage(
        name="screen",
        does="Run each candidate on the device; reject invalid, nondeterministic, constant and out-of-range ones.",
        function="ops6k.screen:run",
        reads=("data/candidates", "{target}"),
        writes="data/verdicts",
        params=("screen",),
        code=_SCREENING,
        retries=2,
        tags=("gpu",),
    ),
    Stage(
        name="resize",
        does="Ask a model once more for what is out of range and could not be resized by its size constants.",
        function="ops6k.fuse:resize",
        reads=("seed_ops", "prompts", "{target}", "data/candidates", "data/verdicts"),
        writes="data/resized",
        params=("fuse",),
        code=_FUSING,
        retries=2,
        tags=("llm",),
    ),
    Stage(
        name="rescreen",
        does="Screen what came back; nothing goes back a second time.",
        function="ops6k.screen:rerun",
        reads=("data/resized", "{target}"),
        writes="data/rescreened",
        params=("screen",),
        code=_SCREENING,
        retries=2,
        tags=("gpu",),
    ),
    Stage(
        name="dedup",
        does="Compare accepted tasks with the benchmarks and with one another.",
        function="ops6k.dedup:run",
        reads=(*_JUDGED, "prompts", "{benchmarks}"),
        writes="data/matches",
        params=("dedup",),
        code=("ops6k/dedup", *_SHARED),
    ),
    Stage(
        name="assemble",
        does="Select rows by quota, split them, and write data set and card.",
        function="ops6k.assemble:run",
        reads=("seed_ops", *_JUDGED, "data/matches"),
        writes="data/dataset",
        params=("seed", "mix", "screen", "dedup", "assemble"),
        code=("ops6k/assemble", *_SHARED),
    ),
    Stage(
        name="train",
        does="Measure plans for running tasks faster, train PPO agents that choose, and compare them with what needs no agent.",
        function="ops6k.train:run",
        reads=("data/dataset", "{target}"),
        writes="data/agent",
        params=("seed", "train"),
        code=(
            "ops6k/train",
            "ops6k/screen",
            "ops6k/sandbox",
            "ops6k/target.py",
            "ops6k/judge.py",
            "ops6k/assemble/figures.py",
            *_SHARED,
        ),
        retries=2,
        tags=("gpu",),
    ),
    Stage(
        name="report",
        does="Render the funnel, the set and the agent as one page.",
        function="ops6k.report:run",
        reads=("seed_ops", *_JUDGED, "data/matches", "data/dataset", "data/agent"),
        writes="data/report",
        params=("seed", "screen", "dedup"),
        code=("ops6k/report", "ops6k/assemble", "ops6k/train/curves.py", *_SHARED),
    ),
)

BY_NAME = {stage.name: stage for stage in STAGES}
