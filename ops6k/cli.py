"""The command line: one command for each stage of the table, `build` for all, and what a person asks of the results.

Everything heavy is imported inside commands: `ops6k --help` must answer at once. What the user or the machine is to blame
for is one line on stderr and exit code 1 (2 for a misused command line); a bug of ours keeps its traceback.
"""

import errno
import os
import select
import signal
import sys

import typer

from ops6k.commands import agent, build, look, project
from ops6k.errors import Ops6kError
from ops6k.stages import STAGES

# What a full, read-only or failing disk, a folder that is a mount of its own (EBUSY), a machine out of handles and a path that
# leads nowhere say; other OSErrors are bugs.
_MACHINE_ERRORS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE}
    | {errno.EBUSY, errno.ENOTDIR, errno.ENOENT, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG}
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
_WITH_MORE_OPTIONS = {"fuse": build.fuse_command, "dedup": build.dedup_command}
for stage in STAGES:
    make = _WITH_MORE_OPTIONS.get(stage.name, build.stage_command)
    app.command(stage.name, help=stage.does, rich_help_panel="Stages")(make(stage))
for command in (build.build, build.status, build.work):
    app.command(rich_help_panel="Build")(command)
for command in (look.show, look.judge, look.audit, look.revalidate, look.similar):
    app.command(rich_help_panel="Look")(command)
for command in (project.doctor, project.calibrate, project.export, project.publish):
    app.command(rich_help_panel="Project")(command)
app.command("optimise", rich_help_panel="Look")(agent.optimise)
app.command("dvc-yaml", rich_help_panel="Project")(project.dvc_yaml)
benchmark.command("index")(project.benchmark_index)
measured = typer.Typer(help="The agent that chooses plans.", no_args_is_help=True)
measured.command("measure")(agent.measure)
app.add_typer(measured, name="agent", rich_help_panel="Build")
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
            _fail(_stopped("terminated"), 128 + signal.SIGTERM)
        raise
    except BrokenPipeError:
        if not _nobody_reads():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if error.errno not in _MACHINE_ERRORS:
            raise
        # A copy names its source first; a write through an open file names nothing.
        place = error.filename2 or error.filename or "a file that was being written"
        _fail(f"{place}: {os.strerror(error.errno)}", 1)
    if code == 130:
        _fail(_stopped("interrupted"), 130)
    sys.exit(code if isinstance(code, int) else 0)


def _nobody_reads() -> bool:
    """Whether whoever read standard output has gone away (`ops6k status | head`): any other broken pipe is a fault."""
    poll = select.poll()
    poll.register(1, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


_GOES_ON = frozenset({stage.name for stage in STAGES} | {"build", "work", "audit", "revalidate"})


def _stopped(how: str) -> str:
    goes_on = _GOES_ON & set(sys.argv[1:2])
    return f"{how}; what is finished is kept, and the same command goes on from here" if goes_on else how


def _fail(message: str, code: int) -> None:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _terminated(number: int, _frame: object) -> None:
    sys.exit(128 + number)  # an exit, not a sudden death: what stands open is closed and children are ended
