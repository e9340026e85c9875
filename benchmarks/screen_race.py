"""The screen as it is against a fresh interpreter for each candidate: the same candidates, blocks of the two in turn."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ops6k.records import Candidate, Verdict
from ops6k.sandbox import Sandbox
from ops6k.screen.course import Course, Rules
from ops6k.screen.shards import POOL_SHARE, judged_in, opened, ready
from ops6k.store import from_plain, to_plain

ALONE = Path(__file__).with_name("screen_alone.py")
TICKS = os.sysconf("SC_CLK_TCK")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
"""As in the sandbox: several processes at a time share the cores."""


@dataclass
class Side:
    """What one way of running has taken so far."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    """User and system time of all processes, compilers included."""
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def per_hour(self) -> float:
        return 3600 * len(self.verdicts) / self.wall_s

    @property
    def cpu_each_s(self) -> float:
        return self.cpu_s / len(self.verdicts)


@dataclass
class Race:
    """Wall and CPU seconds of both sides, and what else went on."""

    forked: Side = field(default_factory=Side)
    fresh: Side = field(default_factory=Side)
    start_s: float = 0.0
    """Wall seconds until the fork server is warm and has passed its control task: once a run."""
    others: float = 0.0
    """Cores that other processes kept busy meanwhile, on average."""
    dry_runs_s: list[tuple[float, float]] = field(default_factory=list)
    """Of each candidate, with nothing beside it: the dry run itself, and from fork to answer."""

    @property
    def differences(self) -> list[str]:
        """What the sides end differently, a line a candidate."""
        fresh = {v.candidate_id: v for v in self.fresh.verdicts}
        pairs = [(v, fresh[v.candidate_id]) for v in self.forked.verdicts]
        return [f"{a.candidate_id}: {_said(a)}; fresh {_said(b)}" for a, b in pairs if a.reason != b.reason]


def _said(verdict: Verdict) -> str:
    return f"{verdict.reason or verdict.outcome} ({verdict.message[:80]})"


@dataclass(frozen=True, slots=True)
class Forked:
    """The product: a child of a warm fork server for each job."""

    sandbox: Sandbox
    rules: Rules

    def judged(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        courses = [Course(number, candidate, self.rules) for number, candidate in enumerate(candidates)]
        return [course.verdicts[-1] for course in judged_in(self.sandbox, courses, self.rules.target)]

    def dry_runs_s(self, candidates: Sequence[Candidate]) -> list[tuple[float, float]]:
        """Seconds of each dry run, itself and from fork to answer, one at a time. What the text decides has none."""
        jobs = [Course(number, candidate, self.rules).first() for number, candidate in enumerate(candidates)]
        ended = [end for job in jobs if job for end in self.sandbox.map([job]) if end.answer]
        found = [(end.answer.get("seconds") or end.answer["verdict"]["seconds"], end.seconds) for end in ended]
        return [(seconds["dry_run"], whole_s) for seconds, whole_s in found if seconds]


@dataclass(frozen=True, slots=True)
class Fresh:
    """An interpreter for each candidate, as many at a time; they take turns at the device as children of the sandbox do."""

    sandbox: Sandbox
    rules: Rules
    folder: Path
    """Of homes and caches."""
    shares_cache: bool

    def judged(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        with ThreadPoolExecutor(self.sandbox.workers) as pool:
            return list(pool.map(self.alone, candidates))

    def alone(self, candidate: Candidate) -> Verdict:
        """Raises CalledProcessError or TimeoutExpired where the interpreter crashes or hangs: composer candidates do neither."""
        payload = {
            "candidate": to_plain(candidate),
            "target": to_plain(self.rules.target),
            "limits": to_plain(self.rules.limits),
            "lock": str(self.sandbox.lock),
            "pool": str(self.sandbox.pool),
            "pool_gib": self.rules.target.memory_gib * POOL_SHARE,
        }
        with tempfile.TemporaryDirectory(dir=self.folder) as own:
            cache = str(self.folder) if self.shares_cache else own
            places = {"HOME": own, "TMPDIR": own, "TORCHINDUCTOR_CACHE_DIR": cache, "TRITON_CACHE_DIR": cache}
            ended = subprocess.run(
                [sys.executable, str(ALONE)],
                input=json.dumps(payload),
                env=os.environ | ONE_THREAD | places,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                timeout=10 * self.rules.limits.timeout_s,
            )
        return from_plain(Verdict, json.loads(ended.stdout.splitlines()[-1]))


def raced(candidates: Sequence[Candidate], rules: Rules, workers: int, block: int, *, shares_cache: bool = False) -> Race:
    """Both sides in turn, `block` candidates each; which goes first alternates. Raises WorkerError where the control task is refused."""
    race, began, busy_s, ours_s = Race(), time.monotonic(), _busy_s(), _cpu_s()
    with opened(rules.target, workers) as sandbox, tempfile.TemporaryDirectory() as folder:
        ready(sandbox, rules)
        race.start_s = time.monotonic() - began
        forked, fresh = Forked(sandbox, rules), Fresh(sandbox, rules, Path(folder), shares_cache)
        race.dry_runs_s = forked.dry_runs_s(candidates)
        turns = [(race.forked, forked.judged), (race.fresh, fresh.judged)]
        for start in range(0, len(candidates), block):
            for side, judge in turns:
                _take(side, judge, candidates[start : start + block])
            turns.reverse()
            print(f"{len(race.fresh.verdicts)} of {len(candidates)} candidates on both sides", file=sys.stderr)
        race.others = max(0.0, (_busy_s() - busy_s) - (_cpu_s() - ours_s)) / (time.monotonic() - began)
    return race


def _take(side: Side, judge: Callable[[Sequence[Candidate]], list[Verdict]], candidates: Sequence[Candidate]) -> None:
    began, cpu_s = time.monotonic(), _cpu_s()
    side.verdicts += judge(candidates)
    side.wall_s += time.monotonic() - began
    side.cpu_s += _cpu_s() - cpu_s


def _cpu_s() -> float:
    """CPU seconds of this process, all that it started, and all that those did and reaped."""
    return sum(_process_cpu_s(pid) for pid in _family(os.getpid()))


def _family(pid: int) -> Iterable[int]:
    yield pid
    for children in Path("/proc", str(pid), "task").glob("*/children"):
        for child in children.read_text().split():
            yield from _family(int(child))


def _process_cpu_s(pid: int) -> float:
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def _busy_s() -> float:
    """CPU seconds of everything on this machine since it was started."""
    user, nice, system, _, _, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / TICKS
