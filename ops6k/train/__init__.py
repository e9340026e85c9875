"""Train: measure tasks under plans, train small PPO agents to choose, and judge them on clusters that they never saw.

Reads data/dataset, writes data/agent: weights, action schema, measured times, learning curves, comparison and card. Heavy
imports (gymnasium, stable-baselines3) happen inside `run`: the measuring child and the command line import this package.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ops6k import store, target
from ops6k.params import Params
from ops6k.records import Funnel, Report, Task

if TYPE_CHECKING:
    from ops6k.train.known import Known
    from ops6k.train.results import Results
    from ops6k.train.rows import Rows


def run(params: Params, data: Path) -> Report:
    """Measure, train, compare and write data/agent. Raises MissingInput without tasks or times, PoisonedTimes, TargetMismatch."""
    from ops6k.train import card, curves, judging, rows
    from ops6k.train.times import PlanTime

    selected, known = selected_times(params, data)
    split = rows.measured(selected, known.table)
    began = time.monotonic()
    school = judging.School(known, params.train.steps, params.train.seeds, params.seed, data / ".work")
    agents, results = judging.results(school, split, params, data / ".work")
    seconds = time.monotonic() - began
    published = agents[results.training.published_seed]
    with store.whole_folder(data / "agent") as folder:
        published.agent.save(folder)
        store.write_rows(folder / "plan_times.parquet", known.table.rows(), PlanTime)
        curves.write(folder, {seed: one.curve for seed, one in agents.items()})
        store.write_json(folder / "results.json", store.to_plain(results))
        (folder / "README.md").write_text(card.card(results, split.tasks, known, seconds), encoding="utf-8")
    return _report(split, known, results)


def selected_times(params: Params, data: Path, deadline_s: float | None = None) -> "tuple[Rows, Known]":
    """The tasks that the parameters select, with sketches and times: from the work folder, made where missing, or replayed."""
    from ops6k.train import rows

    selected = rows.select(*rows.read_splits(data / "dataset"), params.train.tasks)
    return selected, times_of(selected.tasks, params, data / ".work", deadline_s)


def fill_times(params: Params, data: Path, deadline_s: float | None = None) -> str:
    """Measures what the selected tasks lack, and trains nothing; returns a line for a person."""
    selected, known = selected_times(params, data, deadline_s)
    done = sum(bool(known.table.of(task.task_id)) for task in selected.tasks)
    return (
        f"{done} of {len(selected.tasks)} tasks are measured: {len(known.table.rows())} times in {data / '.work' / 'plan_times'}"
    )


def times_of(tasks: Sequence[Task], params: Params, work: Path, deadline_s: float | None = None) -> "Known":
    """Sketches and times of any tasks."""
    from ops6k.train import sketches, times
    from ops6k.train.collect import Measuring, measure_tasks
    from ops6k.train.known import Known
    from ops6k.train.plans import plans_for

    machine = target.load(params.path(params.target))
    found = sketches.sketches_of(tasks, machine, params.screen.workers, work)
    if params.train.replay_times is not None:
        recorded = times.read(params.path(params.train.replay_times)).rows()
        return Known(times.TimeTable(row for row in recorded if row.task_id in found), found)
    how = Measuring(params.train.repeats, params.screen.workers, deadline_s)
    asked = [(task, plans_for(task, found[task.task_id].rewrites, params.train.plans)) for task in tasks]
    return Known(measure_tasks(asked, machine, how, work), found)


def _report(split: "Rows", known: "Known", results: "Results") -> Report:
    counts: dict[str, int] = {}
    for row in known.table.rows():
        counts[row.status.value] = counts.get(row.status.value, 0) + 1
    found = results.held_out.comparison
    agent, fixed, oracle = (found.one_attempt[name].mean_reward for name in ("agent", "best_fixed", "oracle"))
    return Report(
        stage="train",
        taken=len(known.table.rows()),
        kept=counts.get("correct", 0),
        reasons=tuple(Funnel(f"plan/{status}", count) for status, count in sorted(counts.items())),
        notes=(
            f"{len({*split.train, *split.held_out})} tasks measured: {len(split.train)} train, {found.tasks} judged ({split.how})",
            f"mean reward of one attempt: agent {agent:.2f}, best fixed plan ({found.best_fixed_plans[0]}) {fixed:.2f}, oracle {oracle:.2f}",
        ),
    )
