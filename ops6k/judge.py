"""The whole screen for tasks from anywhere: text, dry run, run on the device, and dedup against the benchmarks and one another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from ops6k import target as targets
from ops6k.dedup.canonical import canonical
from ops6k.dedup.decide import Comparing, Subject, rejections
from ops6k.dedup.examples import compared_with
from ops6k.dedup.subject import Known
from ops6k.errors import MissingInput, Ops6kError
from ops6k.params import Params
from ops6k.progress import track
from ops6k.records import Candidate, Match, Outcome, Reason, Verdict
from ops6k.screen.course import Course, Rules
from ops6k.screen.limits import limits_of
from ops6k.screen.shards import judged
from ops6k.store import to_plain
from ops6k.tables import plain_files, readable, source_text
from ops6k.target import Target
from ops6k.yaml_text import yaml_tree


@dataclass(frozen=True, slots=True)
class Given:
    """One task to judge. ops None: labels are not judged. window None: as the caller says."""

    task_id: str
    ops: tuple[str, ...] | None
    code: str
    window: bool | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    id: str
    outcome: Outcome
    reason: Reason | None
    evidence: dict[str, object]
    """What was seen: message, phase, and work, checks, timing, seconds, nearest matches where they were reached."""


def judge_path(path: Path, *, params: Params, device: str, window: bool) -> Iterator[Judged]:
    """A verdict a task, in the order given, each as soon as it and those before it are there. Nothing is resized.

    Interrupted, it gives the verdicts that are there before the interruption goes on. Raises Ops6kError for what is no task file.
    """
    given = read_tasks(path)
    comparing = Comparing(compared_with(params), params.dedup)
    names = {str(i): task.task_id for i, task in enumerate(given)}
    waiting: dict[int, Verdict] = {}

    def compared(i: int) -> Judged:
        return _compared(i, given[i], waiting.pop(i), comparing, names)

    follows = 0
    try:
        for i, verdict in _screened(given, rules_on(params, device), params.screen.workers, window):
            waiting[i] = verdict
            while follows in waiting:
                yield compared(follows)
                follows += 1
    except (KeyboardInterrupt, SystemExit):
        yield from map(compared, sorted(waiting))
        raise


def _compared(i: int, task: Given, verdict: Verdict, comparing: Comparing, names: dict[str, str]) -> Judged:
    """What the screen says; of what it accepts, what the benchmarks and the tasks before say."""
    if verdict.outcome is not Outcome.ACCEPTED:
        return _judged(task, verdict, None, [], names)
    subject = Subject(str(i), task.ops or (), task.code, verdict.work.operators if verdict.work else None)
    matches, _ = comparing.next(Known(subject, canonical(task.code)), i)
    near = [replace(match, candidate_id=task.task_id, reference=_named(match, names)) for match in matches]
    return _judged(task, verdict, rejections(matches).get(str(i)), near, names)


def _named(match: Match, names: dict[str, str]) -> str:
    return match.reference if match.benchmark else names.get(match.reference, match.reference)


def _judged(task: Given, verdict: Verdict, match: Match | None, near: list[Match], names: dict[str, str]) -> Judged:
    evidence = {
        key: value
        for key, value in to_plain(verdict).items()
        if key not in ("candidate_id", "outcome", "reason") and value is not None
    }
    evidence["matches"] = [to_plain(m) for m in near]
    if match is None:
        return Judged(task.task_id, verdict.outcome, verdict.reason, evidence)
    evidence |= {"message": f"{match.channel} {match.score:.2f} with {_named(match, names)}", "phase": "dedup"}
    return Judged(task.task_id, match.reason.outcome, match.reason, evidence)


def _screened(given: Sequence[Given], rules: Rules, workers: int, window: bool) -> Iterator[tuple[int, Verdict]]:
    """Place and verdict of each task, in the order in which they end."""
    off = replace(rules, limits=replace(rules.limits, window_ms=None))
    courses = []
    for i, task in enumerate(given):
        wanted = window if task.window is None else task.window
        candidate = Candidate(task.task_id, task.ops or (), task.code, "given", 0, "", ())
        courses.append(Course(i, candidate, replace(rules if wanted else off, judge_labels=task.ops is not None)))
    accepted = 0
    with track("judge", len(courses)) as tracker:
        for course in judged(courses, rules.target, workers):
            accepted += course.verdicts[-1].outcome is Outcome.ACCEPTED
            tracker.advance(note=f"{accepted} accepted")
            yield course.number, course.verdicts[-1]


def rules_on(params: Params, device: str, keep: Path | None = None) -> Rules:
    """The rules of params.yaml for this machine; nothing is resized. Raises Ops6kError where it has no such device.

    keep: folder for the target of a machine that has no committed one, so that the next run has the same.
    """
    target = _target(params, device, keep)
    return Rules(target, limits_of(params.screen, target), resize_rounds=0)


def _target(params: Params, device: str, keep: Path | None) -> Target:
    """The committed target of this machine; for a GPU without one, one calibrated on the spot. Predictions need no more."""
    import torch

    own = keep / "targets" if keep else None
    paths = [*params.path("data/targets").glob("*.yaml"), *(own.glob("*.yaml") if own else ())]
    known = [targets.load(path) for path in sorted(paths)]
    name = torch.cuda.get_device_name() if device == "cuda" and torch.cuda.is_available() else None
    fitting = [t for t in known if t.device == device and t.device_name == name]
    if device == "cuda" and name is None:
        raise Ops6kError("judge --device cuda: this machine has no CUDA device")
    if not fitting:
        from ops6k.calibrate import calibrate, write

        fitting = [calibrate("here", device)]
        if own:
            write(fitting[0], own / f"{device}.yaml")
    return replace(fitting[0], torch=".".join(torch.__version__.split(".")[:2]))


def read_tasks(path: Path) -> list[Given]:
    """Tasks of a .py file, a folder of them, or a YAML list with id, ops, code. Raises MissingInput, Ops6kError."""
    if path.is_dir():
        files = [file for file in plain_files(path) if file.suffix == ".py"]
        if not files:
            raise MissingInput(f"{path}: no .py file in this folder")
        return [from_python(file, readable(file.relative_to(path))) for file in files]
    if not path.exists():
        raise MissingInput(f"{path}: no such file or folder")
    if path.suffix in (".yaml", ".yml"):
        return _from_yaml(path)
    if path.suffix != ".py":
        raise Ops6kError(f"{path}: give a .py file, a folder of them, or a .yaml list with id, ops, code")
    return [from_python(path, readable(path.stem))]


def from_python(path: Path, name: str) -> Given:
    return from_text(source_text(path), name)


def from_text(text: str, name: str) -> Given:
    """A source may say in the comments that it begins with `# ops: nn.Linear, torch.tanh` and `# window: true`; without the
    former labels are not judged. These comments are about the task, not part of it."""
    lines = text.splitlines(keepends=True)
    head = list(takewhile(lambda line: line.startswith("#"), lines))
    code = "".join(lines[len(head) :])
    said = {}
    for line in head:
        word, _, value = line.removeprefix("#").partition(":")
        said.setdefault(word.strip().lower(), value.strip())
    ops = tuple(op.strip() for op in said["ops"].split(",") if op.strip()) if "ops" in said else None
    return Given(name, ops, code, {"true": True, "false": False}.get(said.get("window", "")))


def _from_yaml(path: Path) -> list[Given]:
    try:
        rows = yaml_tree(path.read_text(encoding="utf-8"), path)
    except UnicodeDecodeError as error:
        raise Ops6kError(f"{path}: not YAML: {error}") from None
    if not isinstance(rows, list):
        raise Ops6kError(f"{path}: must hold a list of tasks with id, ops, code")
    for i, row in enumerate(rows):
        if not isinstance(row, dict) or not {"id", "code"} <= set(row) or not isinstance(row["code"], str):
            raise Ops6kError(f"{path}: entry {i} has no id and code")
        if not isinstance(row.get("ops", []), list | None):
            raise Ops6kError(f"{path}: entry {i} ({readable(row['id'])}): ops must be a list of labels")
    return [_from_row(row) for row in rows]


def _from_row(row: dict) -> Given:
    """What the row does not say of the task the first comments of its source may."""
    given = from_text(readable(row["code"]), readable(row["id"]))
    ops, window = row.get("ops"), row.get("window")
    return replace(
        given,
        ops=given.ops if ops is None else tuple(map(readable, ops)),
        window=given.window if window is None else window,
    )
