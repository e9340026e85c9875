"""The commands of the agent: one task made faster, and the times that it learns from."""

from pathlib import Path
from typing import Annotated

import typer

from ops6k.commands.options import DEFAULT, Data, Device, ParamsFile, Preset, Settings, console_for, device_here, loaded


def optimise(
    task: Annotated[
        str, typer.Argument(metavar="TASK_OR_FILE", help="How a task's id begins, or a .py file in KernelBench form.")
    ],
    most: Annotated[int, typer.Option("--attempts", min=1, max=4, help="Plans to try.")] = 4,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="FOLDER_OR_HUB", help="The agent.", show_default="agent below the data folder"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where model_new.py goes.", show_default="optimised/ID below the data folder"),
    ] = None,
    device: Device = None,
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """Let the agent try plans for one task on this machine; write the best right one as model_new.py, and score that."""
    from ops6k import console
    from ops6k.train.agent import Agent
    from ops6k.train.collect import Measuring
    from ops6k.train.optimise import attempts, ranked, subject_of, verified, write
    from ops6k.train.plans import Plan

    typed, results = loaded(params, preset, settings, data)
    policy = Agent.from_pretrained(agent or results / "agent")
    tried = []
    with console.shown(console_for(stderr=True)):
        subject = subject_of(task, typed, results, device or device_here())
        how = Measuring(typed.train.repeats, 1)
        for row in attempts(policy, subject, how, results / ".work", most):
            tried.append(row)
            print(f"{len(tried)}. {row.plan}: {Plan.named(row.plan).does}\n   {_outcome(row)}", flush=True)
        right = ranked(tried)
        if not right:
            print("no plan that was tried is right here: nothing is written, eager stands")
            raise typer.Exit(1)
        for best in right:  # on its own a plan may fail where a harness keeps outputs, as a CUDA graph's does
            path = write(subject, Plan.named(best.plan), out or results / "optimised" / subject.task.task_id)
            found = verified(subject, path)
            print(f"{path} written: {best.plan}")
            print(f"   by our own reward, allow_torch=True: {found.reward}, {found.status}: {found.message}", flush=True)
            if found.reward > 0:
                break
    for said in _ratios(found, "speedup"):
        print(f"   {said}")
    print("again: ops6k.reward.score(row, source, allow_torch=True), row: the task's, or {'code': source of the .py file}")
    if found.reward < 0:
        raise typer.Exit(1)


def measure(
    tasks: Annotated[
        int | None, typer.Option("--tasks", min=1, help="Rows of the data set to measure.", show_default="train.tasks")
    ] = None,
    plans: Annotated[
        int | None, typer.Option("--plans", min=1, help="Plans of each, at most.", show_default="train.plans")
    ] = None,
    deadline_s: Annotated[float | None, typer.Option("--deadline-s", help="Begin no task after so many seconds.")] = None,
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """Fill the table of measured plans on this machine; training anywhere finds them done. `python -m ops6k.train` is the same
    command for a machine with only torch, numpy, pyarrow and yaml."""
    from ops6k import console
    from ops6k.train import fill_times

    asked = [f"train.{name}={value}" for name, value in (("tasks", tasks), ("plans", plans)) if value is not None]
    with console.shown(console_for(stderr=True)):
        said = fill_times(*loaded(params, preset, [*(settings or ()), *asked], data), deadline_s)
    print(said)


def _outcome(row: object) -> str:
    """Status and ratios with their intervals."""
    return ", ".join([f"{row.status}", *_ratios(row, "ratio")]) + (f": {row.message}" if row.message else "")


def _ratios(of: object, figure: str) -> list[str]:
    """Against eager and default compile, with intervals, where they were measured."""
    said = []
    for name, base in (("eager", "eager"), ("compiled", "default compile")):
        middle, low, high = (getattr(of, f"{figure}_{name}{end}") for end in ("", "_low", "_high"))
        if middle is not None:
            said.append(f"{middle:.2f}x {base} ({low:.2f} to {high:.2f})")
    return said
