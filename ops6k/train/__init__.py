"""Train: measure tasks under compilation plans, train a small PPO agent to pick one, and judge it on held-out tasks.

Reads data/dataset, writes data/agent: weights, action schema, measured times, learning curve, comparison and card. Heavy
imports (gymnasium, stable-baselines3) happen inside `run`: the measuring child and the command line import this package.
"""

import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ops6k import store, target
from ops6k.params import Params
from ops6k.records import Funnel, Report

if TYPE_CHECKING:
    from ops6k.train.compare import Comparison
    from ops6k.train.ppo import CurvePoint
    from ops6k.train.rows import Rows
    from ops6k.train.times import TimeTable


def run(params: Params, data: Path) -> Report:
    """Measure, train, compare and write data/agent. Raises MissingInput without tasks or times, PoisonedTimes, TargetMismatch."""
    from ops6k.train import card, compare, ppo, rows
    from ops6k.train.agent import Agent
    from ops6k.train.times import PlanTime

    machine = target.load(params.path(params.target))
    selected, table = selected_times(params, data)
    split = rows.measured(selected, table)
    learning = time.monotonic()
    model, curve = ppo.train(split.train, table, params.train.steps, params.seed)
    agent = Agent(model.policy)
    training = card.Training(curve[-1].step, params.seed, agent.parameters, time.monotonic() - learning)
    found = compare.compare(agent, split.train, split.held_out, table, params.seed)
    with store.whole_folder(data / "agent") as folder:
        agent.save(folder, ppo.LAYERS)
        store.write_rows(folder / "plan_times.parquet", table.rows(), PlanTime)
        _write_curve(folder / "curve.csv", curve)
        store.write_json(folder / "results.json", _results(split, machine, found))
        (folder / "README.md").write_text(card.card(split, table, machine, training, found), encoding="utf-8")
    return _report(split, table, found)


def selected_times(params: Params, data: Path, deadline_s: float | None = None) -> "tuple[Rows, TimeTable]":
    """The tasks that the parameters select, and their times: from the work folder, measured where missing, or replayed."""
    from ops6k.train import rows, times
    from ops6k.train.collect import Measuring, measure_tasks

    selected = rows.select(*rows.read_splits(data / "dataset"), params.train.tasks)
    if params.train.replay_times is not None:
        ids = {task.task_id for task in selected.tasks}
        recorded = times.read(params.path(params.train.replay_times)).rows()
        return selected, times.TimeTable(row for row in recorded if row.task_id in ids)
    how = Measuring(params.train.repeats, params.screen.workers, deadline_s)
    return selected, measure_tasks(selected.tasks, target.load(params.path(params.target)), how, data / ".work")


def _write_curve(path: Path, curve: "tuple[CurvePoint, ...]") -> None:
    with store.whole_file(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("step", "mean_episode_reward"))
        writer.writerows((point.step, "" if point.mean_reward is None else round(point.mean_reward, 4)) for point in curve)


def _results(split: "Rows", machine: target.Target, found: "Comparison") -> dict:
    held_out = {"tasks": len(split.held_out), "from": split.how}
    return {
        "target": machine.name,
        "device": machine.device,
        "train_tasks": len(split.train),
        "held_out": held_out,
    } | store.to_plain(found)


def _report(split: "Rows", table: "TimeTable", found: "Comparison") -> Report:
    counts: dict[str, int] = {}
    for row in table.rows():
        counts[row.status.value] = counts.get(row.status.value, 0) + 1
    agent, fixed, oracle = (found.one_attempt[name].mean_reward for name in ("agent", "best_fixed", "oracle"))
    return Report(
        stage="train",
        taken=len(table.rows()),
        kept=counts.get("correct", 0),
        reasons=tuple(Funnel(f"plan/{status}", count) for status, count in sorted(counts.items())),
        notes=(
            f"{len({*split.train, *split.held_out})} tasks measured: {len(split.train)} train, {len(split.held_out)} judged ({split.how})",
            f"mean reward of one attempt: agent {agent:.2f}, best fixed plan ({found.best_fixed_plan}) {fixed:.2f}, oracle {oracle:.2f}",
        ),
    )
