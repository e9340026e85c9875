"""Hostile programs, each a file in tests/hostile in the form of a task whose first line says what it attempts.

They are judged twice: in the ordinary way, where the text check has the first word, and past it, straight in the sandbox, where
audit hook, jail and limits stand alone. Further header lines name the reasons that a program may get: `# text:` in the
ordinary way (else unsafe/code), `# past:` beyond the text check (else unsafe/runtime; accepted where nothing came of it), and
`# run:`, where there, beyond the dry run too.
Placeholders: @HOME@ (a home with a token in it), @TMPFILE@ (a secret in /tmp), @PORT@ (a listening socket), @LEFT@ (a path
outside the work folder that begins with MARK).
"""

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from ops6k import judge, params
from ops6k.judge import Judged, judge_path
from ops6k.records import Candidate, Verdict, Work
from ops6k.sandbox import Job, kept
from ops6k.screen.course import Course, Rules
from ops6k.screen.limits import limits_of
from ops6k.screen.shards import judged

pytestmark = pytest.mark.slow

FILES = sorted((Path(__file__).parent / "hostile").glob("*.py"))
ROOT = Path(__file__).parents[1]
MARK = "left-by-hostile"
CANARY = "canary-5f1c90ab77"
HANG_S = 6.0
"""Time limit of a program that is expected to hang."""
EVERY = 45
"""Programs from one control task to the next."""
CONTROL = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(96, 48)

    def forward(self, x):
        return torch.{name}(self.fc(x))


def get_inputs():
    return [torch.randn(64, 96)]


def get_init_inputs():
    return []
"""
CONTROLS = ("tanh", "sigmoid", "sin", "erf")


@dataclass(frozen=True)
class Program:
    """One file, its placeholders filled in."""

    name: str
    code: str
    text: set[str]
    past: set[str]
    run: set[str]

    @property
    def hangs(self) -> bool:
        """Ends by the time limit; what ends by the memory limit needs its time to get there."""
        return "unfinished/timeout" in self.past


@dataclass
class Bait:
    """What is there to be taken, and what was seen of an attempt."""

    home: Path
    work: Path
    secret: Path
    port: int
    server: socket.socket
    printed: Path
    """All that this process and those it starts print meanwhile."""
    leaks: list[str] = field(default_factory=list)
    """Files with the canary that were seen while the programs ran."""
    kept: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Size and time of change of what is kept for later servers, as first seen."""

    def programs(self) -> list[Program]:
        return [_program(file, self._filled(file.read_text(encoding="utf-8"))) for file in FILES]

    def _filled(self, text: str) -> str:
        words = {"@HOME@": self.home, "@TMPFILE@": self.secret, "@PORT@": self.port, "@LEFT@": self.secret.with_name(MARK)}
        for word, value in words.items():
            text = text.replace(word, str(value))
        return text

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Standard streams into a file of their own."""
        with self.printed.open("ab") as file:
            kept = [os.dup(stream) for stream in (1, 2)]
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
            try:
                yield
            finally:
                for stream, copy in zip((1, 2), kept, strict=True):
                    os.dup2(copy, stream)
                    os.close(copy)

    def look(self) -> None:
        """Notes every file of the sandbox's folders that holds the canary."""
        # Not rglob: one of the programs leaves folders deeper than it can follow.
        for path in (path for depth in range(1, 6) for path in self.work.glob("/".join("*" * depth))):
            with contextlib.suppress(OSError):
                if (
                    path.is_file()
                    and not path.is_symlink()
                    and path.stat().st_size < 2**24
                    and CANARY.encode() in path.read_bytes()
                ):
                    self.leaks.append(str(path))


def _program(file: Path, text: str) -> Program:
    head = [line.removeprefix("# ").partition(":") for line in text.splitlines()[1:5] if line.startswith("# ")]
    said = {"text": "unsafe/code", "past": "unsafe/runtime", "run": ""} | {word: reasons for word, _, reasons in head}
    reasons = [{reason.strip() for reason in said[word].split("|") if reason.strip()} for word in ("text", "past", "run")]
    return Program(file.stem, text, *reasons)


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    home, work = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("work")
    work.chmod(0o711)
    token = home / ".cache" / "huggingface" / "token"
    token.parent.mkdir(parents=True)
    token.write_text(CANARY)
    handle, secret = tempfile.mkstemp(prefix="ops6k_bait_", dir="/tmp")
    os.write(handle, CANARY.encode())
    os.close(handle)
    with pytest.MonkeyPatch.context() as patched, socket.create_server(("127.0.0.1", 0)) as server:
        for name in ("HF_TOKEN", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
            patched.setenv(name, CANARY)
        patched.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
        patched.setenv("HOME", str(home))
        patched.setattr(tempfile, "tempdir", str(work))
        server.setblocking(False)
        yield Bait(home, work, Path(secret), server.getsockname()[1], server, home.with_name("printed"))
    os.unlink(secret)


@pytest.fixture(scope="module")
def typed() -> params.Params:
    return params.load(ROOT / "params.yaml", preset="demo", settings=["screen.timeout_s=10", "screen.workers=2"])


def _control(i: int) -> str:
    return CONTROL.format(name=CONTROLS[i % len(CONTROLS)])


@pytest.fixture(scope="module")
def ordinary(bait: Bait, typed: params.Params, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    """Verdicts by name of file, control tasks before, between and after."""
    folder = tmp_path_factory.mktemp("judged")
    for program in bait.programs():
        (folder / f"{program.name}.py").write_text(program.code, encoding="utf-8")
    for i, letter in enumerate(("0", "e", "n", "z")):
        (folder / f"{letter}-control.py").write_text(_control(i), encoding="utf-8")
    bait.kept = _kept()
    with bait.listening():
        found = {one.id: one for one in judge_path(folder, params=typed, device="cpu", window=False)}
    bait.kept = bait.kept or _kept()  # where this was the first server of the machine
    return found


class _PastText(Course):
    """The dry run comes first: the text is not read."""

    def first(self) -> Job | None:
        return self._dry_run()


class _PastDryRun(Course):
    """The run on the device comes first, with the counts of an honest dry run."""

    def first(self) -> Job | None:
        self.work = Work(2**20, 2**20, 2**20, 2**20, 1.0, 0.5, 2.0, 8, ("addmm", "tanh"))
        self.seconds = {"dry_run": 0.1}
        return self._run()


@pytest.fixture(scope="module")
def past(bait: Bait, typed: params.Params) -> dict[str, Verdict]:
    """Verdicts by way and name, the text check passed by; with control tasks all along."""
    rules = judge.rules_on(typed, "cpu")
    rules = replace(rules, limits=replace(limits_of(typed.screen, rules.target), window_ms=None, timeout_s=60.0))
    courses: list[Course] = []

    def add(way: type[Course], name: str, code: str, given: Rules) -> None:
        # Names serve as ids: forged answers must name the right one.
        courses.append(way(len(courses), Candidate(name, (), code, "given", 0, "", ()), replace(given, judge_labels=False)))

    hanging = replace(rules, limits=replace(rules.limits, timeout_s=HANG_S))
    for i, program in enumerate(bait.programs()):
        if i % EVERY == 0:
            add(Course, f"control/{i}", _control(0), rules)
        add(_PastText, f"text/{program.name}", program.code, hanging if program.hangs else rules)
        if program.run:
            add(_PastDryRun, f"run/{program.name}", program.code, rules)
    add(Course, "control/last", _control(0), rules)
    found = {}
    with bait.listening():
        for course in judged(courses, rules.target, 2):
            bait.look()
            found[course.candidate.candidate_id] = course.verdicts[-1]
    return found


def _reason(one: Judged | Verdict) -> str:
    return str(one.reason or one.outcome)


def test_there_are_programs_enough() -> None:
    assert len(FILES) >= 45
    assert all(file.read_text(encoding="utf-8").startswith("# ") for file in FILES)
    assert all("accepted" not in _program(file, file.read_text(encoding="utf-8")).text for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_hostile_program_is_rejected_for_what_it_is(file: Path, ordinary: dict[str, Judged]) -> None:
    program, one = _program(file, file.read_text(encoding="utf-8")), ordinary[file.name]
    assert _reason(one) in program.text, one.evidence["message"]


def test_sound_tasks_among_hostile_ones_are_accepted(ordinary: dict[str, Judged]) -> None:
    controls = [one for name, one in ordinary.items() if name.endswith("-control.py")]
    assert [_reason(one) for one in controls] == ["accepted"] * 4, [one.evidence["message"] for one in controls]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_past_the_text_check_the_sandbox_stops_it(file: Path, past: dict[str, Verdict]) -> None:
    program = _program(file, file.read_text(encoding="utf-8"))
    for way, reasons in (("text", program.past), ("run", program.run)):
        if reasons:
            verdict = past[f"{way}/{file.stem}"]
            assert _reason(verdict) in reasons, (way, verdict.message)


def test_past_the_text_check_no_program_changes_what_a_sound_task_gets(past: dict[str, Verdict]) -> None:
    controls = [verdict for name, verdict in past.items() if name.startswith("control/")]
    assert {_reason(verdict) for verdict in controls} == {"accepted"}, [verdict.message for verdict in controls]
    assert len({(verdict.checks, verdict.work, verdict.environment) for verdict in controls}) == 1


def test_no_secret_is_seen_in_a_verdict_or_a_file(bait: Bait, ordinary: dict[str, Judged], past: dict[str, Verdict]) -> None:
    assert CANARY not in repr(ordinary)
    assert CANARY not in repr(past)
    assert bait.leaks == []


def test_nothing_is_printed_or_logged(bait: Bait, ordinary: dict[str, Judged], past: dict[str, Verdict]) -> None:
    assert bait.printed.read_bytes() == b""


def test_what_is_kept_for_later_servers_is_what_it_was(bait: Bait, ordinary: dict[str, Judged], past: dict[str, Verdict]) -> None:
    assert bait.kept and _kept() == bait.kept


def _kept() -> dict[Path, tuple[int, int]]:
    folder = kept.folder_of("ops6k.screen.warm:compile_once", "cpu")
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_no_process_file_or_connection_is_left(bait: Bait, ordinary: dict[str, Judged], past: dict[str, Verdict]) -> None:
    assert list(bait.work.iterdir()) == []
    places = [Path(name) for name in ("/", "/tmp", "/var/tmp", "/dev/shm", bait.home, ROOT, Path.cwd(), Path(__file__).parent)]
    assert [path for place in places if place.is_dir() for path in place.iterdir() if path.name.startswith(MARK)] == []
    assert _processes_of(str(bait.work)) == []
    assert sorted(path.name for path in bait.home.rglob("*") if path.is_file()) == ["token"]
    with pytest.raises(BlockingIOError):
        bait.server.accept()


def _processes_of(folder: str) -> list[str]:
    """Processes that stand in a folder or were told of it."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            told = (entry / "environ").read_bytes() if entry.name.isdigit() and int(entry.name) != os.getpid() else b""
            if folder.encode() in told or (told and os.readlink(entry / "cwd").startswith(folder)):
                found.append(entry.name)
    return found
