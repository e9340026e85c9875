"""What a build left so far, read once for page and metrics. Nothing has to be there; what is there has to be readable."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from ops6k.assemble.funnel import read_operators, read_reports, stage_counts
from ops6k.assemble.join import Story, peek
from ops6k.assemble.split import SPLITS
from ops6k.errors import MissingInput
from ops6k.params import Params
from ops6k.records import Report, Task
from ops6k.store import read_rows

STAGE_FOLDERS = ("candidates", "verdicts", "resized", "rescreened", "matches", "dataset", "agent")


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way of picking plans, scored on held-out tasks."""

    name: str
    mean_reward: float
    """Of the milestones -1, 1, 2, 3."""
    speedup_over_eager: float | None
    """Geometric mean over tasks."""


@dataclass(frozen=True, slots=True)
class AgentResults:
    held_out: int
    """Tasks that it was judged on."""
    best_fixed_plan: str
    one_attempt: tuple[Strategy, ...]
    four_attempts: tuple[Strategy, ...]
    gap_closed: float | None
    """Share of the reward between best fixed plan and oracle that the agent gets; None where there is no gap."""
    gap_low: float | None
    gap_high: float | None

    def reward(self, name: str) -> float | None:
        """Mean reward of one attempt; None where the strategy was not scored."""
        return next((s.mean_reward for s in self.one_attempt if s.name == name), None)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    seed: int
    step: int
    mean_reward: float | None
    """None before the first episode has ended."""


@dataclass(frozen=True, slots=True)
class Gathered:
    stories: tuple[Story, ...]
    tasks: tuple[Task, ...]
    splits: dict[str, int]
    """Rows of each split."""
    counts: tuple[Report, ...]
    """What each stage took and kept."""
    reports: dict[str, Report]
    """As the stages wrote them, seconds included."""
    agent: AgentResults | None
    curve: tuple[CurvePoint, ...]


def gather(params: Params, data: Path) -> Gathered:
    """Everything that the build left; raises MissingInput where a file is not what its name says."""
    stories = peek(data)
    parts = {name: _tasks(data / "dataset" / "data" / f"{name}.parquet") for name in SPLITS}
    reports = read_reports(*(data / folder for folder in STAGE_FOLDERS))
    seed_ops = params.path("seed_ops")
    operators = read_operators(seed_ops) if any(seed_ops.glob("*.jsonl")) else []
    tasks = tuple(task for part in parts.values() for task in part)
    eligible = sum(story.is_eligible for story in stories)
    assembled = {"assemble": Report("assemble", eligible, len(tasks))} if tasks else {}
    return Gathered(
        stories=stories,
        tasks=tasks,
        splits={name: len(part) for name, part in parts.items()},
        counts=stage_counts(stories, operators, assembled | reports) if stories else (),
        reports=reports,
        agent=_agent(data / "agent" / "results.json"),
        curve=_curve(data / "agent" / "curve.csv"),
    )


def _tasks(path: Path) -> list[Task]:
    return read_rows(path, Task) if path.exists() else []


def _agent(path: Path) -> AgentResults | None:
    if not path.exists():
        return None
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        found = tree["held_out"]["comparison"]
        gap = found["gap_closed"]["agent"]["milestone"]
        return AgentResults(
            held_out=found["tasks"],
            best_fixed_plan=found["best_fixed_plans"][0],
            one_attempt=_strategies(found["one_attempt"]),
            four_attempts=_strategies(found["four_attempts"]),
            gap_closed=gap["share"],
            gap_low=gap["low"],
            gap_high=gap["high"],
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise MissingInput(f"{path}: not the results of `ops6k train` ({type(error).__name__}: {error})") from None


def _strategies(tree: dict[str, dict[str, float]]) -> tuple[Strategy, ...]:
    return tuple(Strategy(name, score["mean_reward"], score.get("speedup_over_eager")) for name, score in tree.items())


def _curve(path: Path) -> tuple[CurvePoint, ...]:
    if not path.exists():
        return ()
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return tuple(
            CurvePoint(
                int(row["seed"]), int(row["step"]), float(row["mean_episode_reward"]) if row["mean_episode_reward"] else None
            )
            for row in rows
        )
    except (ValueError, KeyError) as error:
        raise MissingInput(f"{path}: not a learning curve ({type(error).__name__}: {error})") from None
