"""Verdicts in shards that resume: a work folder keyed by limits, checking code and target, a file a shard.

A shard is a run of candidates in order; its file carries a hash of their ids, so it is found done wherever it was made.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ops6k import target as targets
from ops6k.errors import WorkerError
from ops6k.params import Params
from ops6k.progress import Tracker, track
from ops6k.records import Candidate, Outcome, Timing, Verdict
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.screen.course import Course, Rules
from ops6k.screen.limits import limits_of
from ops6k.screen.warm import TASK as CONTROL
from ops6k.store import code_hash, files_hash, fingerprint, is_whole, read_rows, to_plain, write_rows
from ops6k.target import Target

PACKAGE = Path(__file__).resolve().parents[1]
CHECKING_CODE = (PACKAGE / "screen", PACKAGE / "sandbox", PACKAGE / "labels.py")
PRELOAD = "torch,torch._inductor,sympy.physics.units,ops6k.screen.judge,ops6k.screen.resize"
"""What every child finds imported. sympy's units: torch.compile's simplifications import them, 0.1 s of a child's time."""
CONTROL_TIMEOUT_S = 120.0
RESIDENT_SHARE, POOL_SHARE = 0.4, 0.5
"""Of the device's memory that is shared out among children for good, and lent while their code runs. With 0.45 and 0.65 some ran
out of it, and what is tried again alone stops all others: 0.4 a second instead of 1.2 (H200)."""


@dataclass(frozen=True, slots=True)
class Shard:
    path: Path
    """Verdicts; the candidates derived in it stand beside, written before."""
    candidates: tuple[Candidate, ...]

    @property
    def derived(self) -> Path:
        return self.path.with_suffix(".derived.parquet")

    @property
    def done(self) -> bool:
        """Both files are there and whole: a damaged shard is made anew."""
        return is_whole(self.path) and is_whole(self.derived)


def rules_of(params: Params, *, window: bool = True, judge_labels: bool = True) -> Rules:
    """The rules that params.yaml sets."""
    target = targets.load(params.path(params.target))
    return Rules(
        target, limits_of(params.screen, target, window=window), params.screen.resize_rounds, _recorded(params), judge_labels
    )


def _recorded(params: Params) -> dict[str, Timing]:
    if params.screen.replay_times is None:
        return {}
    verdicts = read_rows(params.path(params.screen.replay_times) / "verdicts.parquet", Verdict)
    return {v.candidate_id: v.timing for v in verdicts if v.timing is not None}


def shards_of(candidates: Sequence[Candidate], rules: Rules, params: Params, work: Path) -> list[Shard]:
    """The shards of a list of candidates under these rules; nothing is made."""
    replay = params.path(params.screen.replay_times) / "verdicts.parquet" if params.screen.replay_times else None
    key = fingerprint(
        to_plain(rules.limits),
        to_plain(rules.target),
        rules.resize_rounds,
        code_hash(*CHECKING_CODE),
        files_hash(replay) if replay else None,
    )
    size = params.screen.shard_rows
    chunks = [tuple(candidates[i : i + size]) for i in range(0, len(candidates), size)]
    return [Shard(work / key / f"{fingerprint([c.candidate_id for c in chunk])}.parquet", chunk) for chunk in chunks]


def fill(shards: Sequence[Shard], rules: Rules, workers: int, deadline_s: float | None = None, *, stage: str = "screen") -> None:
    """Makes the shards that are missing. Past the deadline no new candidate is begun and unfinished shards stay missing.

    Raises TargetMismatch where a shard is missing and this machine is not the target's.
    """
    missing = {number: shard for number, shard in enumerate(shards) if not shard.done}
    if not missing:
        return
    targets.require_machine(rules.target)
    pairs = [(number, candidate) for number, shard in missing.items() for candidate in shard.candidates]
    courses = [Course(number, candidate, rules) for number, (_, candidate) in enumerate(pairs)]
    finished: dict[int, list[Course]] = {}
    outcomes: Counter[str] = Counter()
    with track(stage, len(courses)) as tracker:
        for course in judged(courses, rules.target, workers, deadline_s, lambda course: tracker.begin(pairs[course.number][0])):
            number, _ = pairs[course.number]
            done = finished.setdefault(number, [])
            done.append(course)
            outcomes.update(_ends([course]))
            _show(tracker, outcomes)
            if len(done) == len(missing[number].candidates):
                _write(missing[number], sorted(finished.pop(number), key=lambda c: c.number))
                tracker.finish(number, ", ".join(f"{reason} {count}" for reason, count in Counter(_ends(done)).most_common()))


def _ends(courses: Iterable[Course]) -> list[str]:
    """What each came to, its resized children counted for it."""
    return [str(v.reason or v.outcome) for course in courses for v in course.verdicts[-1:]]


def _show(tracker: Tracker, outcomes: Counter[str]) -> None:
    accepted = outcomes[Outcome.ACCEPTED]
    (worst, count), *_ = [*(pair for pair in outcomes.most_common() if pair[0] != Outcome.ACCEPTED), ("none", 0)]
    tracker.advance(note=f"{accepted / outcomes.total():.0%} accepted, commonest reject {worst} ({count})")


def _write(shard: Shard, courses: Iterable[Course]) -> None:
    courses = list(courses)
    write_rows(shard.derived, [c for course in courses for c in course.derived], Candidate)
    write_rows(shard.path, [v for course in courses for v in course.verdicts], Verdict)


def judged(
    courses: Sequence[Course],
    target: Target,
    workers: int,
    deadline_s: float | None = None,
    begins: Callable[[Course], None] | None = None,
) -> Iterator[Course]:
    """Each course once it is finished, in the order in which they end. Numbers must be unique. begins: told of each as it is drawn.

    Past the deadline no course is begun; those not begun are not yielded. Raises WorkerError where the machine refuses even
    the control task.
    """
    if not courses or (deadline_s is not None and deadline_s <= 0):
        return
    ends = None if deadline_s is None else time.monotonic() + deadline_s
    with opened(target, workers) as sandbox:
        ready(sandbox, courses[0].rules)
        yield from judged_in(sandbox, courses if begins is None else _told(courses, begins), target, ends)


def _told(courses: Iterable[Course], begins: Callable[[Course], None]) -> Iterator[Course]:
    for course in courses:
        begins(course)
        yield course


def opened(target: Target, workers: int) -> Sandbox:
    """The screen's fork server, warm. Takes seconds; as a context manager it is closed again."""
    return Sandbox(
        device=target.device,
        workers=workers or os.cpu_count() or 1,
        device_gib=target.memory_gib * RESIDENT_SHARE,
        preload=PRELOAD,
        warm_up=f"ops6k.screen.warm:{'compile_once' if target.device == 'cpu' else 'dry_run_once'}",
    )


def dry_runs(workers: int) -> Sandbox:
    """A fork server for text and dry runs alone: it compiles nothing and needs no device."""
    return Sandbox(device="cpu", workers=workers, preload="torch,ops6k.screen.judge", warm_up="ops6k.screen.warm:dry_run_once")


def ready(sandbox: Sandbox, rules: Rules) -> None:
    """Judges the control task; later children find imported what it took. Raises WorkerError where it is refused."""
    modules = require_control(sandbox, rules)
    if rules.target.device != "cpu":  # on a CPU the server has compiled once itself
        sandbox.preload([*modules, "ops6k.screen.warm:hash_sources"])
        require_control(sandbox, rules)


def judged_in(sandbox: Sandbox, courses: Iterable[Course], target: Target, ends: float | None = None) -> Iterator[Course]:
    """`judged` in a sandbox that is open. ends: time.monotonic() past which no course is begun."""
    running: dict[str, Course] = {}
    decided: list[Course] = []

    def jobs() -> Iterator[Job]:
        for course in courses:
            if ends is not None and time.monotonic() > ends:
                return
            course.lock, course.pool = str(sandbox.lock), str(sandbox.pool)
            course.pool_gib = target.memory_gib * POOL_SHARE
            job = course.first()
            if job is None:
                decided.append(course)
            else:
                running[_number(job.job_id)] = course
                yield job

    def follow(ended: Ended) -> Job | None:
        return running[_number(ended.job_id)].next(ended)

    for ended in sandbox.map(jobs(), follow):
        if running[_number(ended.job_id)].done:
            yield running.pop(_number(ended.job_id))
        while decided:
            yield decided.pop(0)
    yield from decided


def _number(job_id: str) -> str:
    return job_id.partition("-")[0]


def require_control(sandbox: Sandbox, rules: Rules) -> list[str]:
    """Judges one sound task, and says which modules that took; raises WorkerError where even that is refused: no compiler, a broken installation, a bug of ours.

    Without it a machine that cannot compile would call every candidate invalid.
    """
    limits = replace(rules.limits, window_ms=None, timeout_s=max(rules.limits.timeout_s, CONTROL_TIMEOUT_S))
    candidate = Candidate("control", ("nn.Linear", "torch.tanh"), CONTROL, "control", 0, "float32", ())
    course = Course(0, candidate, replace(rules, limits=limits, times={}), lock=str(sandbox.lock), pool=str(sandbox.pool))
    modules: list[str] = []

    def follow(ended: Ended) -> Job | None:
        modules.extend((ended.answer or {}).get("modules", ()))
        job = course.next(ended)
        return replace(job, function="ops6k.screen.warm:run_control") if job and course.step == "run" else job

    for _ in sandbox.map([course.first()], follow):
        pass
    verdict = course.verdicts[-1]
    if verdict.outcome is not Outcome.ACCEPTED:
        raise WorkerError(
            f"the screen refuses its own control task on this machine: {verdict.reason} in {verdict.phase}: {verdict.message}"
        )
    return modules
