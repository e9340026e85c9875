"""How a stage runs, whoever calls it: inputs checked, the data folder locked, the result stamped with what it depends on.

The command line, DVC and the Prefect flow all come through here, so each finds done what another did. A stamp is trusted
only while the output still has the bytes that it was written for.
"""

import dataclasses
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

from ops6k import progress, store
from ops6k.errors import AlreadyBuilding, MissingInput, ParamsError
from ops6k.layout import COMMITTED, REPORT, WORK, output, places, report_path
from ops6k.params import Params
from ops6k.records import Report
from ops6k.stages import STAGES, Stage

# Not of this build alone, or paid for: --fresh leaves them.
_KEPT_WORK = frozenset({"llm", "lock"})
_NOW = "now"
"""File in the work folder that says how far the running stage is."""

_MADE_BY_HAND = {
    "{target}": "`ops6k calibrate --name NAME` makes a target for this machine",
    "{benchmarks}": "`ops6k benchmark index PATH --name NAME` makes it",
}


Before = Callable[[Stage, Params, Path], None]
"""Asked before a stage runs: may leave in the work folder what the stage then finds done."""


class Watch(Protocol):
    """Told what a build does, stage by stage."""

    def begins(self, stage: Stage) -> None: ...
    def ended(self, stage: Stage, report: Report, *, ran: bool) -> None: ...


class Unwatched:
    def begins(self, stage: Stage) -> None: ...
    def ended(self, stage: Stage, report: Report, *, ran: bool) -> None: ...


def execute(stage: Stage, params: Params, data: Path, *, fresh: bool = False) -> Report:
    """Runs one stage under the data folder's lock. Raises MissingInput, AlreadyBuilding and what the stage raises."""
    with locked(data):
        return perform(stage, params, data, fresh=fresh)


def ensured(stage: Stage, params: Params, data: Path, *, fresh: bool = False) -> Report:
    """As `execute`, but a committed output that is up to date is left as it is: DVC would make the harvest twice."""
    with locked(data):
        settled = stage.writes in COMMITTED and not fresh and up_to_date(stage, params, data)
        done = read_report(stage, params, data) if settled else None
        return done or perform(stage, params, data, fresh=fresh)


def perform(stage: Stage, params: Params, data: Path, *, fresh: bool = False, before: Before | None = None) -> Report:
    """As `execute`, for a caller who holds the lock over several stages."""
    _require_inputs(stage, params, data)
    if fresh:
        clear((stage,), params, data)
    depends = depends_on(stage, params, data)  # before the run: what changes meanwhile is noticed next time
    began = time.monotonic()
    with _disk_errors_named(data), progress.noted(stage.name, data / WORK / _NOW):
        if before is not None:
            before(stage, params, data)
        report = dataclasses.replace(stage.run(params, data), seconds=round(time.monotonic() - began, 3))
        made = _content(output(stage, params, data))
        store.write_json(report_path(stage, params, data), store.to_plain(_as_first_reported(report, made, data)))
        store.write_json(_stamp_path(stage, depends, data), {"stage": stage.name, **depends, "outputs": made})
    return report


def build(
    params: Params,
    data: Path,
    *,
    fresh: bool = False,
    until: str | None = None,
    watch: Watch | None = None,
    before: Before | None = None,
) -> list[Report]:
    """Runs the table in order up to `until`, skipping what is up to date; `fresh` starts anew."""
    watch = watch or Unwatched()
    reports = []
    stages = up_to(until)
    with locked(data):
        if fresh:
            clear(STAGES, params, data)
        for stage in stages:
            reports.append(_step(stage, params, data, watch, before))
    return reports


def _step(stage: Stage, params: Params, data: Path, watch: Watch, before: Before | None) -> Report:
    done = read_report(stage, params, data) if up_to_date(stage, params, data) else None
    if done is None:
        watch.begins(stage)
    report = done or perform(stage, params, data, before=before)
    watch.ended(stage, report, ran=done is None)
    return report


def up_to(name: str | None) -> tuple[Stage, ...]:
    """The table up to a stage, all of it for None; raises ParamsError where there is no such stage."""
    names = [stage.name for stage in STAGES]
    if name is None:
        return STAGES
    if name not in names:
        raise ParamsError(f"no stage {name!r}; stages: {', '.join(names)}")
    return STAGES[: names.index(name) + 1]


@contextmanager
def locked(data: Path) -> Iterator[None]:
    """Holds the data folder; raises AlreadyBuilding at once where another process does.

    The kernel lets go of it when the process ends, however it ends. Children that fork without exec would keep it.
    """
    path = data / WORK / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyBuilding(f"{data}: {holder(data)} is building here; wait for it or stop it") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def at_work_on(data: Path) -> str:
    """`screen 40/96 1.2/s 47 s left`: how far the running stage is; empty between stages."""
    try:
        return (data / WORK / _NOW).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return ""


def holder(data: Path) -> str | None:
    """`process 123` where one holds the data folder's lock, else None."""
    path = data / WORK / "lock"
    if not path.exists():
        return None
    with path.open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return f"process {file.read().strip() or '(starting)'}"
    return None


def read_report(stage: Stage, params: Params, data: Path) -> Report | None:
    """What the stage reported when it last ran; None where that is not there or not whole."""
    return _read_report(report_path(stage, params, data))


def _read_report(path: Path) -> Report | None:
    try:
        return store.from_plain(Report, json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None


def _as_first_reported(report: Report, made: str | None, data: Path) -> Report:
    """The report with the seconds of the run that first made these very bytes: other seconds would look to DVC like another result."""
    path = data / WORK / "reports" / report.stage / f"{made}.json"
    first = _read_report(path)
    if first is not None and dataclasses.replace(first, seconds=report.seconds) == report:
        return first
    store.write_json(path, store.to_plain(report))
    return report


def _require_inputs(stage: Stage, params: Params, data: Path) -> None:
    makers = {other.writes: f"`ops6k {other.name}` makes it" for other in STAGES} | _MADE_BY_HAND
    for entry in stage.reads:
        for path in places(entry, params, data):
            if not path.exists():
                raise MissingInput(f"{stage.name}: {path} is missing; {makers.get(entry, 'it comes with the repository')}")


def depends_on(stage: Stage, params: Params, data: Path) -> dict[str, str]:
    """Fingerprints of what the result depends on, by kind: params, code, inputs, libraries."""
    root = Path(__file__).resolve().parent.parent
    return {
        "params": store.fingerprint({section: _section(params, section) for section in stage.params}),
        "code": store.fingerprint({path: store.files_hash(root / path) for path in stage.code if (root / path).exists()}),
        "inputs": store.fingerprint([[_content(path) for path in places(entry, params, data)] for entry in stage.reads]),
        "libraries": store.fingerprint([_version(name) for name in ("torch", "transformers")]),
    }


def _section(params: Params, name: str) -> object:
    """A section as it takes effect: the environment names the model where params.yaml does not."""
    if name != "fuse" or params.fuse.source != "llm":
        return getattr(params, name)
    llm = dataclasses.replace(params.fuse.llm, model=params.fuse.llm.model or os.environ.get("OPS6K_MODEL"))
    return dataclasses.replace(params.fuse, llm=llm)


def _version(package: str) -> str | None:
    try:
        return version(package).partition("+")[0]  # CPU and CUDA builds of one version count as one
    except PackageNotFoundError:
        return None


def _content(path: Path) -> str | None:
    """Hash of a file or a folder; report.json does not count, it holds seconds. None where there is nothing."""
    if not path.exists():
        return None
    if path.is_file():
        return store.files_hash(path)
    parts = [part for part in sorted(path.iterdir()) if part.name != REPORT and not part.name.startswith(".")]
    return store.fingerprint({part.name: store.files_hash(part) for part in parts})


def _stamp_path(stage: Stage, depends: dict[str, str], data: Path) -> Path:
    # One for each set of inputs: when DVC brings back an earlier result, its stamp is still there.
    return data / WORK / "stamps" / stage.name / f"{store.fingerprint(depends)}.json"


def up_to_date(stage: Stage, params: Params, data: Path) -> bool:
    """Whether the output is what the stage would make now."""
    return why_not(stage, params, data) is None


def why_not(stage: Stage, params: Params, data: Path) -> str | None:
    """Why the stage would run again, in a few words; None where it is up to date."""
    made = _content(output(stage, params, data))
    if made is None or read_report(stage, params, data) is None:
        return "not made yet"
    depends = depends_on(stage, params, data)
    stamp = _read_stamp(_stamp_path(stage, depends, data))
    if stamp is not None:
        return None if stamp["outputs"] == made else "the output was changed"
    newest = max((data / WORK / "stamps" / stage.name).glob("*.json"), key=lambda path: path.stat().st_mtime, default=None)
    last = _read_stamp(newest) if newest else None
    changed = [kind for kind in depends if last is None or last.get(kind) != depends[kind]]
    return f"{' and '.join(changed)} changed" if last else "made elsewhere"


def _read_stamp(path: Path) -> dict[str, str] | None:
    """None for a file that is absent or damaged: the stage then runs again."""
    try:
        stamp = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) and "outputs" in stamp else None


def clear(stages: tuple[Stage, ...], params: Params, data: Path) -> None:
    """Removes outputs, stamps and work of these stages; committed folders and paid answers stay."""
    for stage in stages:
        shutil.rmtree(data / WORK / "stamps" / stage.name, ignore_errors=True)
        if stage.writes not in COMMITTED:
            shutil.rmtree(output(stage, params, data), ignore_errors=True)
    every = len(stages) == len(STAGES)
    for path in (data / WORK).iterdir():
        ours = every or path.name in {stage.name for stage in stages}
        if ours and path.name not in _KEPT_WORK and path.is_dir():
            shutil.rmtree(path)


@contextmanager
def _disk_errors_named(data: Path) -> Iterator[None]:
    """Gives an error of the disk that carries no path (a full disk says none) the data folder's."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(data)
        raise
