"""Commands that build: one for each stage, all of them, shards on a GPU machine, and where a build stands."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ops6k.commands.options import (
    DEFAULT,
    Address,
    Data,
    Fresh,
    ParamsFile,
    Preset,
    RunnerName,
    Settings,
    StoreUrl,
    console_for,
    loaded,
)
from ops6k.errors import WorkerError
from ops6k.params import Params, load
from ops6k.stages import STAGES, Stage


def stage_command(stage: Stage) -> Callable[..., None]:
    def command(
        preset: Preset = None,
        settings: Settings = None,
        params: ParamsFile = DEFAULT,
        data: Data = None,
        fresh: Fresh = False,
    ) -> None:
        from ops6k import console, runner

        typed, folder = loaded(params, preset, settings, data)
        with console.shown(console_for(stderr=True)):
            report = runner.ensured(stage, typed, folder, fresh=fresh)
        print(console.ending(report))
        for note in report.notes:
            print(f"  {note}")

    return command


def fuse_command(stage: Stage) -> Callable[..., None]:
    run = stage_command(stage)

    def command(
        preset: Preset = None,
        settings: Settings = None,
        params: ParamsFile = DEFAULT,
        data: Data = None,
        fresh: Fresh = False,
        dry: Annotated[
            bool, typer.Option("--dry", help="Print the first prompt and an estimate of tokens and cost; ask nothing.")
        ] = False,
    ) -> None:
        if not dry:
            return run(preset, settings, params, data, fresh)
        from ops6k.fuse.llm import dry as first_prompt

        print(first_prompt(load(params, preset=preset, settings=settings or ())))

    return command


def dedup_command(stage: Stage) -> Callable[..., None]:
    run = stage_command(stage)

    def command(
        preset: Preset = None,
        settings: Settings = None,
        params: ParamsFile = DEFAULT,
        data: Data = None,
        fresh: Fresh = False,
        self_test: Annotated[
            Path | None,
            typer.Option(
                "--self-test", metavar="BENCHMARK_FOLDER", help="Check the check: copies of every problem, in every disguise."
            ),
        ] = None,
        trace: Annotated[
            bool, typer.Option("--trace", help="With --self-test: dry-run problems and copies too (minutes).")
        ] = False,
    ) -> None:
        if self_test is None:
            return run(preset, settings, params, data, fresh)
        _self_test(self_test, *loaded(params, preset, settings, data), trace)

    return command


def _self_test(folder: Path, params: Params, data: Path, trace: bool) -> None:
    """Prints and writes recall and price; exit code 1 where a disguise gets through too often."""
    from ops6k.dedup import selftest, selftest_report
    from ops6k.dedup.trace import aten_operators

    tested = selftest.self_test(folder, params.dedup, aten_operators if trace else None)
    for table in selftest_report.tables(tested):
        console_for().print(table, "")
    for path in selftest_report.write(tested, data / "selftest"):
        print(f"{path} written")
    if not tested.holds:
        raise typer.Exit(1)


def build(
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
    fresh: Fresh = False,
    until: Annotated[str | None, typer.Option("--until", metavar="STAGE", help="Last stage to run.", show_default="all")] = None,
    where: RunnerName = "here",
    address: Address = None,
    store: StoreUrl = None,
) -> None:
    """Run every stage that is not up to date; interrupted work goes on where it stopped."""
    from ops6k import console, runner

    typed, folder = loaded(params, preset, settings, data)
    if where != "ray" and (address or store):
        raise typer.BadParameter("--address and --store go with --runner ray")
    before = _on_ray(address, store) if where == "ray" else None
    screen = console_for(stderr=True)
    with console.shown(screen):
        runner.build(typed, folder, fresh=fresh, until=until, watch=console.StageLines(screen), before=before)
    if until in (None, STAGES[-1].name):
        _print_what_next(typed, folder)


def _on_ray(address: str | None, store: str | None) -> Callable[[Stage, Params, Path], None]:
    try:
        from ops6k.cluster import Cluster, Store
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise WorkerError("--runner ray needs Ray: `pip install 'ops6k[ray]'`") from None
    return Cluster(address, Store.at(store) if store else None).fill


def _print_what_next(params: Params, data: Path) -> None:
    from ops6k.status import first_id

    ops6k, python = _typed_as("ops6k"), _typed_as("python")
    where = "" if data == Path("data") else f" --data {data}"
    print(f"\ndata set  {data / 'dataset'}\nagent     {data / 'agent'}\nreport    {data / 'report' / 'index.html'}\n\nTry next:")
    print(f"  {ops6k} status{where}")
    print(f"  {ops6k} show {first_id(data) or 'ID'}{where}")
    print(f"  {python} -c \"from datasets import load_dataset; print(load_dataset('{data / 'dataset'}')['train'][0])\"")


def _typed_as(program: str) -> str:
    """What to type for a program of this environment, active or not."""
    here = Path(sys.executable).parent / program
    if shutil.which(program) == str(here):
        return program
    return str(here.relative_to(Path.cwd())) if here.is_relative_to(Path.cwd()) else str(here)


def status(preset: Preset = None, settings: Settings = None, params: ParamsFile = DEFAULT, data: Data = None) -> None:
    """Where the build stands: each stage, what it kept, and why it would run again."""
    from ops6k.status import overview

    typed, folder = loaded(params, preset, settings, data)
    console_for().print(overview(typed, folder))


def work(
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = DEFAULT,
    data: Data = None,
    deadline_s: Annotated[float | None, typer.Option("--deadline-s", help="Begin no candidate after so many seconds.")] = None,
    slice_of: Annotated[
        str, typer.Option("--slice", metavar="K/N", help="Every N-th shard from number K on, counted from 0: a Slurm array's.")
    ] = "0/1",
    again: Annotated[bool, typer.Option("--again", help="The second round: data/resized/ instead of data/candidates/.")] = False,
) -> None:
    """Fill the screen's shards on this machine; a build anywhere finds them done. `python -m ops6k.screen` is the same command for
    a machine with only torch, numpy, pyarrow and yaml: see docs/gpu_machine.md."""
    from ops6k import console
    from ops6k.rounds import FIRST, SECOND
    from ops6k.screen import Slice, fill_shards

    mine = Slice.parsed(slice_of)
    with console.shown(console_for(stderr=True)):
        shards = fill_shards(*loaded(params, preset, settings, data), SECOND if again else FIRST, deadline_s, mine)
    print(f"{sum(shard.done for shard in shards)} of {len(shards)} shards are done")
