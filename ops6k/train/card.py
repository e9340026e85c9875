"""The agent folder's README.md: a model card for the Hub, every figure from results.json's values."""

from collections.abc import Sequence
from dataclasses import dataclass

from ops6k.records import Task
from ops6k.target import Target
from ops6k.train.compare import Comparison, Score
from ops6k.train.plans import PLANS
from ops6k.train.rows import Rows
from ops6k.train.times import TimeTable

_ROWS = (
    ("agent", "this agent"), ("always_eager", "always eager"), ("always_default", "always default `torch.compile`"),
    ("best_fixed", "best fixed plan"), ("random", "random"), ("oracle", "oracle (best in the table)"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Training:
    """How the weights came about."""

    steps: int
    seed: int
    parameters: int
    seconds: float


def card(rows: Rows, table: TimeTable, target: Target, training: Training, comparison: Comparison) -> str:
    """The card as Markdown with a YAML head."""
    return "\n".join([
        _head(),
        "# Ops6K plan agent",
        "",
        _what(target, training),
        "",
        "## How it compares",
        "",
        _judged(rows, target),
        "",
        *_table("One attempt each", comparison.one_attempt),
        "",
        *_table("Best of four attempts, with feedback after each", comparison.four_attempts),
        "",
        _headline(comparison),
        "",
        "## Use",
        "",
        _USE,
        "",
        "## Actions",
        "",
        *_actions(rows.tasks, table),
        "",
        "## What it is not",
        "",
        _NOT,
        "",
    ])  # fmt: skip


def _head() -> str:
    return "---\nlicense: apache-2.0\nlibrary_name: ops6k\npipeline_tag: reinforcement-learning\ntags: [ops6k, torch-compile, maskable-ppo, performance]\n---\n"


def _what(target: Target, training: Training) -> str:
    return (
        f"A small policy ({training.parameters:,} parameters, two layers) that looks at one row of an Ops6K data set and picks how to run the task "
        f"faster: eager, default `torch.compile`, or `torch.compile` with chosen Inductor options. Trained with sb3-contrib's MaskablePPO "
        f"for {training.steps:,} steps (seed {training.seed}, {training.seconds:.0f} s) on measured times. Reward: -1 wrong, 1 correct, 2 if the lower bound "
        f"of the 95 % interval is more than 5 % faster than eager, 3 if also than default `torch.compile`. All times are from target `{target.name}` "
        f"({'a GPU: ' + str(target.device_name) if target.device == 'cuda' else 'a CPU, no GPU'}; torch {target.torch})."
    )


def _judged(rows: Rows, target: Target) -> str:
    return (
        f"{len(rows.held_out)} tasks judged ({rows.how}), {len(rows.train)} tasks trained on, all measured on {target.name}. "
        + ("Fewer than 30 tasks: differences of this size are mostly chance." if len(rows.held_out) < 30 else "")
    ).strip()


def _table(title: str, scores: dict[str, Score]) -> list[str]:
    head = [
        f"{title}:",
        "",
        "| strategy | mean reward | correct | faster than eager | faster than compile | speed-up over eager |",
        "|---|---|---|---|---|---|",
    ]
    return head + [
        f"| {label} | {found.mean_reward:.2f} | {found.pass_rate:.0%} | {found.faster_than_eager:.0%} | {found.faster_than_compile:.0%} "
        f"| {found.speedup_over_eager:.3f}x |"
        for key, label in _ROWS
        for found in (scores[key],)
    ]


def _headline(comparison: Comparison) -> str:
    gap, fixed = comparison.gap_closed, f"Best fixed plan, chosen on the training tasks: `{comparison.best_fixed_plan}`. "
    if gap.share is None:
        return fixed + "On these tasks no choice beats it, so there is no gap for an agent to close."
    return fixed + (
        f"Of the gap in mean reward between it and the oracle the agent closes {gap.share:.0%} "
        f"(95 % bootstrap interval over tasks {gap.low:.0%} to {gap.high:.0%})."
    )


def _actions(tasks: Sequence[Task], table: TimeTable) -> list[str]:
    lines = ["| plan | what it is | tasks measured | reached 2 | reached 3 | wrong or failed |", "|---|---|---|---|---|---|"]
    for plan in PLANS:
        found = [
            row.milestone
            for task in {task.task_id: task for task in tasks}.values()
            if (row := table.attempts(task.task_id).get(plan.name))
        ]
        lines.append(f"| `{plan.name}` | {plan.does} | {len(found)} | {found.count(2)} | {found.count(3)} | {found.count(-1)} |")
    return lines


_USE = """```python
from datasets import load_dataset
from ops6k.records import Task
from ops6k.store import from_plain
from ops6k.train.agent import Agent

agent = Agent.from_pretrained("data/agent")
task = from_plain(Task, load_dataset("data/dataset")["train"][0])
print(agent.choose(task).name)
```

`model.safetensors` holds the weights, `config.json` sizes, features and versions, `actions.json` the action schema (another
schema is refused), `plan_times.parquet` every measured time, `results.json` the tables above, `curve.csv` the learning curve."""

_NOT = """It writes no kernels and no code: it chooses among the plans above. It knows operators by counts, not by graph. What it learned holds
for the machine, the torch version and the kind of task that it was measured on; elsewhere, measure again. Precision is fixed (full
float32 matrix products): no speed comes from TF32. A choice is a guess: measure it, and keep eager where it does not win."""
