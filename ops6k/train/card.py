"""The agent folder's README.md: a model card for the Hub from the template beside this file, every figure from results.json's records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ops6k.records import Task
from ops6k.train.bootstrap import Share
from ops6k.train.compare import LEARNED, STRATEGIES, Comparison
from ops6k.train.features import ATTEMPTS
from ops6k.train.known import Known
from ops6k.train.plans import BACKENDS, CHANNELS_LAST, REWRITES, Plan
from ops6k.train.results import Block, Results

LABELS = {
    "agent": "this agent",
    "tree": "decision tree",
    "forest": "random forest",
    "best_fixed": "best fixed plan",
    "always_eager": "always eager",
    "always_default": "always default `torch.compile`",
    "always_max_autotune": "always max-autotune",
    "random": "random",
    "oracle": "oracle (best in the table)",
}
FEW = 30
"""Fewer judged tasks than this are said to be few."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One action and what the table says of the plans that take it."""

    name: str
    does: str
    tasks: int
    measured: int
    reached_2: int
    reached_3: int
    failed: int


def card(results: Results, tasks: Sequence[Task], known: Known, seconds: float) -> str:
    """The card as Markdown with a YAML head. seconds: that training and comparison took."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = Environment(loader=PackageLoader("ops6k", "train"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    loader.filters |= {"percent": lambda share: f"{share:.0%}", "share": share_text, "verdict": verdict}
    text = loader.get_template("card.md.j2").render(
        results=results,
        blocks=list(_blocks(results)),
        labels=LABELS,
        strategies=STRATEGIES,
        learned=LEARNED,
        few=FEW,
        attempts=ATTEMPTS,
        decisions=list(decisions(tasks, known)),
        seconds=seconds,
        date=datetime.now(UTC).date().isoformat(),
    )
    return f"---\n{head(results)}---\n{text}"


def head(results: Results) -> str:
    """The card's metadata as YAML, with the figures as the Hub's model index."""
    import yaml

    found = results.held_out.comparison
    one = found.one_attempt["agent"]
    figures: list[tuple[str, str, float | None]] = [
        ("mean_reward", "Mean milestone of one attempt (-1 to 3), mean over seeds", one.mean_reward),
        ("faster_than_compile", "Share of tasks surely over 5 % faster than eager and torch.compile", one.faster_than_compile),
        ("gap_closed", "Share of the gap between best fixed plan and oracle", found.gap_closed["agent"].milestone.share),
    ]
    measured = results.measured
    data = {"type": "ops6k", "name": f"Ops6K, {found.tasks} held-out tasks on {measured.device_name}"}
    metrics = [{"type": kind, "name": name, "value": round(value, 4)} for kind, name, value in figures if value is not None]
    task = {"type": "reinforcement-learning", "name": "choosing how to run a PyTorch module"}
    tree = {
        "license": "apache-2.0",
        "library_name": "ops6k",
        "pipeline_tag": "reinforcement-learning",
        "tags": ["ops6k", "torch-compile", "maskable-ppo", "performance"],
        "model-index": [{"name": "ops6k-agent", "results": [{"task": task, "dataset": data, "metrics": metrics}]}],
    }
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=120)


def share_text(found: Share) -> str:
    """`31 % (95 % interval 12 % to 48 %)`."""
    if found.share is None:
        return "no gap to close"
    return f"{100 * found.share:.0f} % (95 % interval {100 * found.low:.0f} % to {100 * found.high:.0f} %)"


def verdict(found: Comparison) -> str:
    """In words who closes most of the gap in mean milestone, and whether the agent surely closes any."""
    shares = {name: found.gap_closed[name].milestone for name in LEARNED}
    own = shares["agent"]
    if own.share is None:
        return "On these tasks no choice beats the best fixed plan, so there is no gap for an agent to close."
    surely = "The agent surely closes some of the gap" if own.low > 0 else "The agent does not surely close any of the gap"
    surely += f": its interval begins at {100 * own.low:.0f} %."
    best = max(LEARNED, key=lambda name: shares[name].share)
    rivals = [LABELS[name] for name in LEARNED[1:] if shares[name].share > own.share]
    if rivals:
        who = f"The {' and the '.join(rivals)} on the same features {'does' if len(rivals) == 1 else 'do'} better than the agent here"
        return f"{surely} {who} ({share_text(shares[best])} of the gap against {100 * own.share:.0f} %)."
    return f"{surely} Neither the decision tree nor the random forest on the same features does better."


def decisions(tasks: Sequence[Task], known: Known) -> Iterator[Decision]:
    """Each action's counts over the measured attempts; actions that were never measured too."""
    attempts = [known.table.attempts(one) for one in {task.task_id: task for task in tasks}]
    for name in (*REWRITES, CHANNELS_LAST, *BACKENDS):
        rows = [[row for row in of.values() if name in Plan.named(row.plan).decisions] for of in attempts]
        reached = [row.milestone for of in rows for row in of]
        does = BACKENDS[name].does if name in BACKENDS else "memory format" if name == CHANNELS_LAST else "graph rewrite"
        yield Decision(name, does, sum(map(bool, rows)), len(reached), reached.count(2), reached.count(3), reached.count(-1))


def _blocks(results: Results) -> Iterator[tuple[str, Block]]:
    yield "Held-out split", results.held_out
    if results.cross_validation:
        yield "Cross-validation: every measured task, judged by agents that saw none of its cluster", results.cross_validation
    if results.problems:
        yield "Problems of a folder, never trained on", results.problems
