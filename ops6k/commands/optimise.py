"""The command that makes one task faster."""

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
    for name, base in (("eager", "eager"), ("compiled", "default compile")):
        middle, low, high = (getattr(found, f"speedup_{name}{end}") for end in ("", "_low", "_high"))
        if middle is not None:
            print(f"   {middle:.2f}x {base} ({low:.2f} to {high:.2f})")
    print("again: ops6k.reward.score(row, source, allow_torch=True), row: the task's, or {'code': source of the .py file}")
    if found.reward < 0:
        raise typer.Exit(1)


def _outcome(row: object) -> str:
    """Status and ratios with their intervals."""
    said = []
    for name, base in (("eager", "eager"), ("compiled", "default compile")):
        middle, low, high = (getattr(row, f"ratio_{name}{end}") for end in ("", "_low", "_high"))
        if middle is not None:
            said.append(f"{middle:.2f}x {base} ({low:.2f} to {high:.2f})")
    return ", ".join([f"{row.status}", *said]) + (f": {row.message}" if row.message else "")
