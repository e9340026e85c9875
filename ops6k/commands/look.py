"""Commands that look: the story of one candidate, and a verdict on tasks from anywhere."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from ops6k.commands.options import DEFAULT, Data, Device, ParamsFile, Preset, Settings, console_for, device_here, loaded
from ops6k.params import load


def show(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A candidate's or a task's id, or how it begins.")],
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """The whole story of one candidate: code, verdict with evidence, timing, nearest match, parent and children."""
    from ops6k.story import story

    for part in story(identifier, data or params.parent / "data"):
        console_for().print(part)


def judge(
    path: Annotated[Path, typer.Argument(help="A .py file, a folder of them, or a YAML list with id, ops, code.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines: id, outcome, reason, evidence.")] = False,
    no_window: Annotated[bool, typer.Option("--no-window", help="Do not judge the run time.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 where a task is not accepted.")] = False,
    device: Device = None,
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
) -> None:
    """Run the whole screen on tasks from anywhere and print one verdict a task, as soon as it is there."""
    from ops6k import console
    from ops6k.judge import judge_path

    typed = load(params, preset=preset, settings=settings or ())
    refused = 0
    with console.shown(console_for(stderr=True)):
        for judged in judge_path(path, params=typed, device=device or device_here(), window=not no_window):
            refused += judged.outcome != "accepted"
            row = dataclasses.asdict(judged)
            row["reason"] = row["reason"] and str(row["reason"]).rpartition("/")[2]
            print(json.dumps(row, default=str) if as_json else _judged_line(row), flush=True)
    if strict and refused:
        raise typer.Exit(1)


def audit(
    source: Annotated[
        str, typer.Argument(metavar="PATH_OR_HUB_ID", help="A folder, a Parquet, JSONL or .py file, or owner/name.")
    ],
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="Look at so many rows, drawn by the seed.")] = None,
    device: Annotated[
        Literal["cpu", "cuda"] | None,
        typer.Option("--device", help="Run the whole screen on each task there.", show_default="text and dry runs only"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 where there is a finding.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the report.", show_default="audit/NAME-HASH below the data folder"),
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """What is wrong with any set in KernelBench form: text, labels, dry run, copies of benchmarks, duplicates. Needs no GPU; with
    --device each task is run too.

    Columns are known by name, in any case of letters, the first of a list counts. Source: code, source, task_code, problem,
    reference, ref_arch_src, pytorch_code, torch_code, python_code, where it holds a class. Name: task_id, name, id, problem_name,
    uuid. Labels: ops, operators, labels, as a list or its text; without one a first comment `# ops: nn.Linear, torch.tanh`; without
    either labels are not judged."""
    from ops6k import console
    from ops6k.audit import audit as looked
    from ops6k.audit.page import faulty, write
    from ops6k.tables import folder_name

    typed, results = loaded(params, preset, settings, data)
    with console.shown(console_for(stderr=True)):
        workers = typed.screen.workers or os.cpu_count() or 1
        found = looked(source, typed, results / ".work" / "audit", device=device, sample=sample, workers=workers)
    for kind, faults in found.by_kind().items():
        print(
            f"{kind:28} {len(faults):6}  {faults[0].place}: {faults[0].message.splitlines()[0][:120] if faults[0].message else ''}"
        )
    print(f"{faulty(found)} of {found.looked_at} rows have a fault ({found.rows} in the set)")
    print(*(f"{path} written" for path in write(found, out or results / "audit" / folder_name(source))), sep="\n")
    if strict and found.faults:
        raise typer.Exit(1)


def revalidate(
    source: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of a data set, as on the Hub.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder of the new version.",
            show_default="revalidated/NAME-DIGITS below the data folder",
        ),
    ] = None,
    fit: Annotated[bool, typer.Option("--fit", help="Resize what lies outside the window here.")] = False,
    device: Device = None,
    deadline_s: Annotated[
        float | None, typer.Option("--deadline-s", min=0, help="Begin no row after so many seconds; a second run goes on.")
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """Run the screen of a set again on this machine, and write a new version whose rows say where they passed."""
    from ops6k import console
    from ops6k.revalidate import revalidate as again
    from ops6k.tables import folder_name

    typed, results = loaded(params, preset, settings, data)
    place = out or results / "revalidated" / folder_name(str(source))
    workers = typed.screen.workers or os.cpu_count() or 1
    with console.shown(console_for(stderr=True)):
        found = again(
            source,
            place,
            typed,
            results / ".work" / "revalidate",
            device=device or device_here(),
            fit=fit,
            workers=workers,
            deadline_s=deadline_s,
        )
    for reason, count in found.reasons.items():
        print(f"{reason:28} {count:6}")
    fitted = f", {found.fitted} of them with fitted sizes" if fit else ""
    print(f"{found.passed} of {found.rows} rows pass on {found.device} with torch {found.torch}{fitted}")
    print(f"{place} written")


def similar(
    path: Annotated[Path, typer.Argument(metavar="FILE.py", help="A task.")],
    count: Annotated[int, typer.Option("--count", min=1, help="How many neighbours of each kind.")] = 5,
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="BENCHMARK_FOLDER", help="Source of the benchmarks, to show a problem's form beside."),
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """The nearest benchmark problems and rows, a score a channel, and the canonical forms side by side."""
    from ops6k.dedup.similar_page import page

    for part in page(path, *loaded(params, preset, settings, data), count=count, source=source):
        console_for().print(part)


def _judged_line(row: dict[str, object]) -> str:
    from rich.markup import escape

    colour = "green" if row["outcome"] == "accepted" else "yellow" if row["outcome"] == "unfinished" else "red"
    word = f"{row['outcome']}/{row['reason']}" if row["reason"] else f"{row['outcome']}"
    evidence: dict[str, object] = row["evidence"]  # type: ignore[assignment]
    seen = "  ".join(
        f"{key}={value}" for key, value in evidence.items() if value is not None and not isinstance(value, dict | list | tuple)
    )
    screen = console_for()
    with screen.capture() as line:  # printed by the caller: above the bars where there are some
        screen.print(f"{escape(str(row['id']))}  [{colour}]{word}[/{colour}]  [dim]{escape(seen)}[/dim]", highlight=False, end="")
    return line.get()
