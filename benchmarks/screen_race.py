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
from ops6k.screen.shards import POOL_SHARE, judged_in, opened, require_control
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
    dry_runs_s: list[float] = field(default_factory=list)
    """Of each candidate, with nothing beside it."""
    dry_jobs_s: list[float] = field(default_factory=list)
    """The same from fork to answer."""

    @property
    def equal(self) -> int:
        """Candidates that both sides end alike."""
        ends = [{v.candidate_id: v.reason for v in side.verdicts} for side in (self.forked, self.fresh)]
        return sum(ends[0][name] == ends[1][name] for name in ends[0])


@dataclass(frozen=True, slots=True)
class Fresh:
    """An interpreter for each candidate."""

    rules: Rules
    workers: int
    folder: Path
    """Of lock, pool and caches."""
    shares_cache: bool

    def judged(self, candidates: Sequence[Candidate]) -> list[Verdict]:
        for file in (self.lock, self.pool):
            file.touch()
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(self.alone, candidates))

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def pool(self) -> Path:
        return self.folder / "pool"

    def alone(self, candidate: Candidate) -> Verdict:
        """Raises CalledProcessError or TimeoutExpired where the interpreter crashes or hangs: composer candidates do neither."""
        payload = {
            "candidate": to_plain(candidate),
            "target": to_plain(self.rules.target),
            "limits": to_plain(self.rules.limits),
            "lock": str(self.lock),
            "pool": str(self.pool),
            "pool_gib": self.rules.target.memory_gib * POOL_SHARE,
        }
        with tempfile.TemporaryDirectory(dir=self.folder) as own:
            cache = str(self.folder / "cache") if self.shares_cache else own
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


def raced(candidates: Sequence[Candidate], fresh: Fresh, block: int) -> Race:
    """Both sides in turn, block by block; which goes first alternates. Raises WorkerError where the control task is refused."""
    race, rules, began, busy, ours = Race(), fresh.rules, time.monotonic(), _busy_s(), _cpu_s()
    with opened(rules.target, fresh.workers) as sandbox:
        require_control(sandbox, rules)
        race.start_s = time.monotonic() - began
        _dry_runs(race, sandbox, candidates, rules)
        turns = [(race.forked, lambda some: _forked(sandbox, some, rules)), (race.fresh, fresh.judged)]
        for start in range(0, len(candidates), block):
            for side, judge in turns:
                _take(side, judge, candidates[start : start + block])
            turns.reverse()
            print(f"{len(race.fresh.verdicts)} of {len(candidates)} candidates on both sides", file=sys.stderr)
        wall_s = time.monotonic() - began
        race.others = max(0.0, (_busy_s() - busy) - (_cpu_s() - ours)) / wall_s
    return race


def _take(side: Side, judge: Callable[[Sequence[Candidate]], list[Verdict]], candidates: Sequence[Candidate]) -> None:
    began, cpu_s = time.monotonic(), _cpu_s()
    side.verdicts += judge(candidates)
    side.wall_s += time.monotonic() - began
    side.cpu_s += _cpu_s() - cpu_s


def _dry_runs(race: Race, sandbox: Sandbox, candidates: Sequence[Candidate], rules: Rules) -> None:
    """The first job of each candidate, one at a time."""
    for number, candidate in enumerate(candidates):
        job = Course(number, candidate, rules).first()
        for ended in sandbox.map([job] if job else []):
            answer = ended.answer or {}
            seconds = answer.get("seconds") or answer.get("verdict", {}).get("seconds")
            if seconds:
                race.dry_runs_s.append(seconds["dry_run"])
                race.dry_jobs_s.append(ended.seconds)


def _forked(sandbox: Sandbox, candidates: Sequence[Candidate], rules: Rules) -> list[Verdict]:
    courses = [Course(number, candidate, rules) for number, candidate in enumerate(candidates)]
    return [course.verdicts[-1] for course in judged_in(sandbox, courses, rules.target)]


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
