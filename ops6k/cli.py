"""The command line: one command for each stage of the table, `build` for all, and what a person asks of the results.

Everything heavy is imported inside commands: `ops6k --help` must answer at once. What the user or the machine is to blame
for is one line on stderr and exit code 1 (2 for a misused command line); a bug of ours keeps its traceback.
"""

import dataclasses
import errno
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ops6k.errors import Ops6kError
from ops6k.params import Params, load
from ops6k.stages import STAGES, Stage

if TYPE_CHECKING:
    from rich.console import Console

Preset = Annotated[
    str | None,
    typer.Option("--preset", help="Overlay of params.yaml to use: demo, paper or full.", show_default="as params.yaml says"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one parameter, e.g. screen.timeout_s=30; may be repeated."),
]
ParamsFile = Annotated[Path, typer.Option("--params", metavar="FILE", help="File of parameters; its folder is the project.")]
Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Folder of results.", show_default="data beside params.yaml")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew; answers of an LLM that were paid for are kept.")]
Device = Annotated[
    Literal["cpu", "cuda"] | None, typer.Option("--device", help="Where to run.", show_default="cuda if there is one")
]

# What a full, read-only or failing disk and a machine out of handles say; other OSErrors are bugs.
_MACHINE_ERRORS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOTDIR}
)

_UsageError = typer.BadParameter.__base__  # click's; newer Typer carries its own copy of click

app = typer.Typer(
    name="ops6k",
    help="Build a verified, deduplicated set of PyTorch operator-fusion tasks, and an agent trained on it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
benchmark = typer.Typer(help="Benchmarks that tasks must not copy.", no_args_is_help=True)
app.add_typer(benchmark, name="benchmark", rich_help_panel="Project")


def main() -> None:
    """The console script."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(standalone_mode=False)
    except _UsageError as error:
        _fail(error.format_message(), 2)
    except typer.Abort:
        code = 130
    except Ops6kError as error:
        _fail(str(error), 1)
    except SystemExit as exit_:
        if exit_.code == 128 + signal.SIGTERM:
            _fail("terminated; the same command goes on from here", 128 + signal.SIGTERM)
        raise
    except BrokenPipeError:  # `ops6k status | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno not in _MACHINE_ERRORS or error.filename is None:
            raise
        _fail(f"{error.filename}: {os.strerror(error.errno)}", 1)
    if code == 130:
        _fail("interrupted; the same command goes on from here", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _terminated(number: int, _frame: object) -> None:
    sys.exit(128 + number)  # an exit, not a sudden death: what stands open is closed and children are ended


def _console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr, soft_wrap=True)


def _loaded(params: Path, preset: str | None, settings: list[str] | None, data: Path | None) -> tuple[Params, Path]:
    return load(params, preset=preset, settings=settings or ()), data or params.parent / "data"


def _stage_command(stage: Stage) -> Callable[..., None]:
    def command(
        preset: Preset = None,
        settings: Settings = None,
        params: ParamsFile = Path("params.yaml"),
        data: Data = None,
        fresh: Fresh = False,
    ) -> None:
        from ops6k import console, runner

        typed, folder = _loaded(params, preset, settings, data)
        with console.shown(_console(stderr=True)):
            report = runner.execute(stage, typed, folder, fresh=fresh)
        print(console.ending(report))
        for note in report.notes:
            print(f"  {note}")

    return command


def _fuse_command(stage: Stage) -> Callable[..., None]:
    run = _stage_command(stage)

    def command(
        preset: Preset = None,
        settings: Settings = None,
        params: ParamsFile = Path("params.yaml"),
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


for _stage in STAGES:
    _make = _fuse_command if _stage.name == "fuse" else _stage_command
    app.command(_stage.name, help=_stage.does, rich_help_panel="Stages")(_make(_stage))


@app.command(rich_help_panel="Build")
def build(
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = Path("params.yaml"),
    data: Data = None,
    fresh: Fresh = False,
    until: Annotated[str | None, typer.Option("--until", metavar="STAGE", help="Last stage to run.", show_default="all")] = None,
) -> None:
    """Run every stage that is not up to date; interrupted work goes on where it stopped."""
    from ops6k import console, runner

    typed, folder = _loaded(params, preset, settings, data)
    screen = _console(stderr=True)
    with console.shown(screen):
        runner.build(typed, folder, fresh=fresh, until=until, watch=console.StageLines(screen))
    if until in (None, STAGES[-1].name):
        _print_what_next(typed, folder)


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


@app.command(rich_help_panel="Build")
def status(preset: Preset = None, settings: Settings = None, params: ParamsFile = Path("params.yaml"), data: Data = None) -> None:
    """Where the build stands: each stage, what it kept, and why it would run again."""
    from ops6k.status import overview

    typed, folder = _loaded(params, preset, settings, data)
    _console().print(overview(typed, folder))


@app.command(rich_help_panel="Look")
def show(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A candidate's or a task's id, or how it begins.")],
    params: ParamsFile = Path("params.yaml"),
    data: Data = None,
) -> None:
    """The whole story of one candidate: code, verdict with evidence, timing, nearest match, parent and children."""
    from ops6k.story import story

    for part in story(identifier, data or params.parent / "data"):
        _console().print(part)


@app.command(rich_help_panel="Look")
def judge(
    path: Annotated[Path, typer.Argument(help="A .py file, a folder of them, or a YAML list with id, ops, code.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines: id, outcome, reason, evidence.")] = False,
    no_window: Annotated[bool, typer.Option("--no-window", help="Do not judge the run time.")] = False,
    device: Device = None,
    preset: Preset = None,
    settings: Settings = None,
    params: ParamsFile = Path("params.yaml"),
) -> None:
    """Run the whole screen on tasks from anywhere and print one verdict a task."""
    from ops6k.judge import judge_path

    typed = load(params, preset=preset, settings=settings or ())
    screen = _console()
    for judged in judge_path(path, params=typed, device=device or _device(), window=not no_window):
        row = dataclasses.asdict(judged)
        row["reason"] = row["reason"] and str(row["reason"]).rpartition("/")[2]
        if as_json:
            print(json.dumps(row, default=str), flush=True)
        else:
            screen.print(_judged_line(row), highlight=False)


def _judged_line(row: dict[str, object]) -> str:
    from rich.markup import escape

    colour = "green" if row["outcome"] == "accepted" else "yellow" if row["outcome"] == "unfinished" else "red"
    word = f"{row['outcome']}/{row['reason']}" if row["reason"] else f"{row['outcome']}"
    evidence: dict[str, object] = row["evidence"]  # type: ignore[assignment]
    seen = "  ".join(
        f"{key}={value}" for key, value in evidence.items() if value is not None and not isinstance(value, dict | list | tuple)
    )
    return f"{escape(str(row['id']))}  [{colour}]{word}[/{colour}]  [dim]{escape(seen)}[/dim]"


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@app.command(rich_help_panel="Project")
def calibrate(
    name: Annotated[str, typer.Option("--name", help="Name of the target: data/targets/NAME.yaml.")],
    device: Device = None,
    data: Data = None,
) -> None:
    """Measure this machine's bandwidth and rates, and write them as a target."""
    from ops6k.calibrate import calibrate as measured
    from ops6k.calibrate import write

    path = (data or Path("data")) / "targets" / f"{name}.yaml"
    write(measured(name, device or _device()), path)
    print(f"{path} written; set `target: {path}` in params.yaml")


@app.command(rich_help_panel="Project")
def publish(
    what: Annotated[Literal["dataset", "agent", "all"], typer.Argument(help="What to publish.")] = "all",
    to: Annotated[
        str | None,
        typer.Option("--to", help="Hub organisation or user, or a folder (with a slash: ./out).", show_default="publish.to"),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Write to a folder as it would be on the Hub.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Make new repositories public.")] = False,
    params: ParamsFile = Path("params.yaml"),
    data: Data = None,
) -> None:
    """Put data set and agent on the Hugging Face Hub (private unless told otherwise), or in a folder."""
    from ops6k.publish import publish as upload
    from ops6k.publish import to_folder

    typed, results = _loaded(params, None, None, data)
    if folder is None and to is not None and os.sep in to:  # no name on the Hub holds a slash
        folder = Path(to)
    if public:
        typed = dataclasses.replace(typed, publish=dataclasses.replace(typed.publish, private=False))
    for line in to_folder(results, folder, what=what) if folder else upload(typed, results, what=what, to=to):
        print(line)


@benchmark.command("index")
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
    from ops6k.dedup.trace import aten_operators

    place = (data or Path("data")) / "benchmarks"
    path = build_index(source, name, folder=place, trace=aten_operators, origin=(origin or source, revision))
    print(f"{path} written; list it under dedup.benchmarks in params.yaml")


@app.command("dvc-yaml", rich_help_panel="Project")
def dvc_yaml(params: ParamsFile = Path("params.yaml")) -> None:
    """Write dvc.yaml from the table of stages."""
    from ops6k.dvcfile import write

    print(f"{write(params.parent)} written")
