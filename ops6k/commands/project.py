"""Commands about the project: the machine's target, benchmarks, publishing, dvc.yaml."""

import dataclasses
import os
import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from ops6k.commands.options import DEFAULT, Data, Device, ParamsFile, Preset, Settings, console_for, device_here, loaded
from ops6k.errors import HubError, MissingInput, ParamsError


def calibrate(
    name: Annotated[str, typer.Option("--name", help="Name of the target: data/targets/NAME.yaml.")],
    device: Device = None,
    data: Data = None,
) -> None:
    """Measure this machine's bandwidth and rates, and write them as a target."""
    from ops6k.calibrate import calibrate as measured
    from ops6k.calibrate import write

    if not re.fullmatch(r"[\w.-]+", name):
        raise ParamsError(f"--name {name!r}: letters, digits, points and dashes only")
    path = (data or Path("data")) / "targets" / f"{name}.yaml"
    write(measured(name, device or device_here()), path)
    print(f"{path} written; set `target: {path}` in params.yaml")


def publish(
    what: Annotated[Literal["dataset", "agent", "all"], typer.Argument(help="What to publish.")] = "all",
    to: Annotated[
        str | None,
        typer.Option("--to", help="Hub organisation or user, or a folder (with a slash: ./out).", show_default="publish.to"),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Write to a folder as it would be on the Hub.")
    ] = None,
    repo: Annotated[
        str | None, typer.Option("--repo", metavar="ORG/NAME", help="The repository's whole name, for data set or agent alone.")
    ] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="Name the commit, as v1; a tag is never moved.")] = None,
    public: Annotated[bool, typer.Option("--public/--private", help="Of new repositories.", show_default="private")] = False,
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """Put data set and agent on the Hugging Face Hub (private unless told otherwise), or in a folder."""
    from ops6k import console
    from ops6k.publish import publish as upload
    from ops6k.publish import to_folder

    typed, results = loaded(params, None, None, data)
    if folder is None and to is not None and os.sep in to:  # no name on the Hub holds a slash
        folder = Path(to)
    if folder is None and (to or repo or typed.publish.to) is None:
        raise HubError("publish where? give --to ORG_OR_USER, --repo ORG/NAME, --to ./FOLDER or publish.to in params.yaml")
    if public:
        typed = dataclasses.replace(typed, publish=dataclasses.replace(typed.publish, private=False))
    with console.shown(console_for(stderr=True)):
        if folder:
            lines = to_folder(typed, results, folder, what=what)
        else:
            lines = upload(typed, results, what=what, to=to, repo=repo, tag=tag)
    print("\n".join(lines))


def export(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="A data set's folder, a Parquet file, or owner/name on the Hub. With workdir and no --task: the task.",
            show_default="dataset below the data folder",
        ),
    ] = None,
    task_argument: Annotated[str | None, typer.Argument(metavar="TASK", help="workdir: how the task's id begins.")] = None,
    *,
    format_name: Annotated[
        Literal["cuda-agent", "kernelbench", "verl", "trl", "workdir"], typer.Option("--format", help="What to write.")
    ],
    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="workdir: the task, as an option.")] = None,
    split: Annotated[str | None, typer.Option("--split", help="Take this split alone.", show_default="all")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to.", show_default="export/FORMAT below the data folder")
    ] = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
) -> None:
    """Turn a data set into what trainers and agents read: Parquet for verl, TRL or CUDA-Agent, KernelBench's folders, or a work
    folder for one task."""
    from ops6k.export import export_set, export_task

    if format_name == "workdir" and task is None and task_argument is None:
        source, task_argument = None, source  # `ops6k export --format workdir 3fa9`: a lone word is the task
    if (task is None) + (task_argument is None) != (1 if format_name == "workdir" else 2):
        raise ParamsError("--format workdir wants one task, by how its id begins; the other formats take none")
    task = task or task_argument
    results = data or params.parent / "data"
    place = out or results / "export" / format_name
    dataset = source or str(results / "dataset")
    if source is None and not (results / "dataset").is_dir():
        raise MissingInput(f"{dataset}: no such folder; `ops6k assemble` makes it, or name a SOURCE")
    if task is not None:
        place, lines = export_task(dataset, task, place, split=split)
    else:
        lines = export_set(dataset, format_name, place, prompts=params.parent / "prompts", split=split)
    print(f"{place}", *lines, sep="\n  ")


def benchmark_index(
    source: Annotated[
        str, typer.Argument(metavar="PATH_OR_HUB_ID", help="Folder of .py files, Parquet or JSONL file, or Hub id (owner/name).")
    ],
    name: Annotated[str, typer.Option("--name", help="Name of the benchmark: data/benchmarks/NAME.parquet.")],
    origin: Annotated[
        str | None, typer.Option("--origin", help="Public name of the source.", show_default="the source as given")
    ] = None,
    revision: Annotated[str | None, typer.Option("--revision", help="Commit or version of the source.")] = None,
    data: Data = None,
) -> None:
    """Index a benchmark's problems: hashes, operators and names, none of its source."""
    from ops6k.dedup.index import build_index
    from ops6k.dedup.index import origin as made_of
    from ops6k.dedup.trace import aten_operators

    place = (data or Path("data")) / "benchmarks"
    path = build_index(source, name, folder=place, trace=aten_operators, origin=(origin or source, revision))
    made = made_of(path)
    left = f", {made.skipped} files or rows without a class Model left out" if made.skipped else ""
    print(f"{made.references} references{left}")
    print(f"{path} written; list it under dedup.benchmarks in params.yaml")


def dvc_yaml(params: ParamsFile = DEFAULT) -> None:
    """Write dvc.yaml from the table of stages."""
    from ops6k.dvcfile import write

    print(f"{write(params.parent)} written")


def doctor(preset: Preset = None, settings: Settings = None, params: ParamsFile = DEFAULT, data: Data = None) -> None:
    """Check this machine and what a build needs, and say how to mend what is missing. Exit code 1 where a build would fail."""
    from ops6k.doctor import findings, table

    found = findings(*loaded(params, preset, settings, data))
    console_for().print(table(found))
    if any(one.is_fatal for one in found):
        raise typer.Exit(1)
