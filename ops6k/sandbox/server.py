"""The fork server: preloads torch once, forks a child a job, enforces time and memory, kills by group.

Started with a clean environment; job ids come in on standard input, one JSON line a finished job goes out. When standard
input closes (the caller ended, however), every child is killed.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ops6k.sandbox import child, jail
from ops6k.sandbox.lines import IMPORT

POLL_S = 0.05
KILL_ROUNDS = 50
DISK_BYTES, DISK_FILES = 4 * 2**30, 20_000
"""What a child may leave in its folder at a time; a compiler's caches take a hundredth of it."""
DISK_POLL_S = 0.5
FIRST_USER, USERS = 100_000, 100_000
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Running:
    job_id: str
    pid: int
    began: float
    timeout_s: float
    memory_bytes: float
    user: int
    """Its user id; 0 where it keeps the server's."""
    killed: str = ""
    """timeout or memory, where the server killed it."""
    why: str = ""
    looked: float = 0.0
    """When its folder was last looked at."""


def serve(settings: dict) -> None:
    _die_with(settings["caller"])
    settings["jail"] = _jailed([Path(path) for path in settings["show"]])
    for module in settings["preload"].split(","):
        importlib.import_module(module)
    if settings["warm_up"]:
        module, _, name = settings["warm_up"].partition(":")
        getattr(importlib.import_module(module), name)()
    gc.freeze()  # a collection in a child would write to, and so copy, every page that it shares with this process
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    os.set_blocking(0, False)
    running: dict[int, Running] = {}
    _say({"jail": settings["jail"]})
    try:
        _loop(running, settings)
    finally:
        for job in running.values():
            _kill(job)


def _die_with(caller: int) -> None:
    """Also while it warms up and does not listen: a killed caller leaves no server behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != caller:
        sys.exit(0)


def _jailed(show: list[Path]) -> str:
    """Empty where the jail stands, else why it does not."""
    try:
        jail.enter(Path.cwd(), show)
    except jail.Refused as refusal:
        return str(refusal)
    return ""


def _loop(running: dict[int, Running], settings: dict) -> None:
    pending = b""
    ends = _ends_of_children()
    with selectors.DefaultSelector() as selector:
        for readable in (0, ends):
            selector.register(readable, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select(POLL_S if running else None)}
            if ends in ready:
                os.read(ends, 65536)
            if 0 in ready:
                data = os.read(0, 65536)
                if not data:
                    return
                *lines, pending = (pending + data).split(b"\n")
                for line in map(bytes.decode, lines):
                    if line.startswith(IMPORT):
                        _import(line.removeprefix(IMPORT).split(","))
                        continue
                    job = _fork(line, settings)
                    running[job.pid] = job
            there = _processes() if running else []
            for job in running.values():
                _enforce(job, there)
            _reap(running)


def _ends_of_children() -> int:
    """A pipe that can be read when a child has ended: waiting for the next poll took half the time of a dry run."""
    ends, tells = os.pipe()
    for end in (ends, tells):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return ends


def _import(names: list[str]) -> None:
    """Modules, or functions as module:function, that later children find imported or called."""
    for name in names:
        module, _, function = name.partition(":")
        try:
            found = importlib.import_module(module)
            if function:
                getattr(found, function)()
        except (ImportError, AttributeError) as error:  # a module that only its parent can import: children do without, slower
            print(f"not imported: {name}: {error}", file=sys.stderr)
    gc.freeze()
    tempfile.tempdir = None  # an import may have asked for it: a child's is another


def _fork(line: str, settings: dict) -> Running:
    """line: a job's id and the token that its answer must carry."""
    job_id, token = line.split()
    home = Path(job_id).absolute()
    spec = json.loads((home / "job.json").read_text(encoding="utf-8"))
    # A user of its own for each child: they cannot signal, trace or read one another, nor what comes after them.
    settings["forks"] = settings.get("forks", 0) + 1
    users = _users() if os.geteuid() == 0 and not settings["jail"] else range(0)
    user = users[settings["forks"] % len(users)] if users else 0
    if user:
        os.chown(home, user, user)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        child.run(home, token, spec, settings | {"user": user})  # never returns
    return Running(job_id, pid, time.monotonic(), spec["timeout_s"], spec["memory_gib"] * 2**30, user)


def _users() -> range:
    """User ids that children may take; in a container that maps few, the upper half of those; none where only one is there."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    mapped = [range(int(first), int(first) + int(count)) for first, _, count in map(str.split, lines)]
    if any(FIRST_USER in part and FIRST_USER + USERS in part for part in mapped):
        return range(FIRST_USER, FIRST_USER + USERS)
    widest = max(mapped, key=len, default=range(0))
    return range(widest.start + max(1, len(widest) // 2), widest.stop)


def _enforce(job: Running, there: list["Process"]) -> None:
    if job.killed:
        return
    if time.monotonic() - job.began > job.timeout_s:
        job.killed = "timeout"
    elif _group_bytes(job, there) > job.memory_bytes:
        job.killed = "memory"
    elif why := _disk(job):
        job.killed, job.why = "memory", why
    if job.killed:
        _kill(job)


def _group_bytes(job: Running, there: list["Process"]) -> int:
    """Resident bytes of all that a job started; a process that ends meanwhile counts nothing."""
    total = 0
    for process in there:
        if process.is_of(job):
            with contextlib.suppress(OSError, ValueError):
                # Pages shared with the fork server (torch itself) are not the child's.
                _, resident, shared = Path("/proc", str(process.pid), "statm").read_text().split()[:3]
                total += (int(resident) - int(shared)) * PAGE
    return total


def _disk(job: Running) -> str:
    """What is too much in a job's folder, looked at now and then; empty where nothing is."""
    now = time.monotonic()
    if now - job.looked < DISK_POLL_S:
        return ""
    job.looked = now
    files = used = 0
    folders = [job.job_id]
    while folders and files <= DISK_FILES and used <= DISK_BYTES:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                files += 1
                with contextlib.suppress(OSError):
                    used += entry.stat(follow_symlinks=False).st_blocks * 512
                if files > DISK_FILES or used > DISK_BYTES:
                    return f"{files} files, {used / 2**30:.1f} GiB on disk"
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return ""


def _reap(running: dict[int, Running]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        job = running.pop(pid, None)
        if job is None:
            continue
        _kill(job)  # what it left running
        if not job.user and os.getpid() == 1:
            _kill_orphans(running)
        answered = status == 0 and Path(job.job_id, "answer.json").exists()
        how = job.killed or ("answered" if answered else "crashed")
        code = os.waitstatus_to_exitcode(status)
        detail = job.why or (f"killed by signal {-code}" if code < 0 else f"exit status {code}")
        _say({"job_id": job.job_id, "how": how, "detail": detail, "seconds": time.monotonic() - job.began})


def _kill(job: Running) -> None:
    """Every process of the job: of its group, its session, and its user, again until none is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(job.pid, signal.SIGKILL)
    for _ in range(KILL_ROUNDS):
        alive = _alive(job)
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not alive:
            return
        time.sleep(0.01)


def _kill_orphans(running: dict[int, Running]) -> None:
    """Where children share a user: what has no parent but the first process of the jail, this one, and is no job."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) not in running:
            with contextlib.suppress(OSError, IndexError):
                if Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1] == "1":
                    os.kill(int(entry.name), signal.SIGKILL)


class Process(NamedTuple):
    """One that lives, as the kernel lists it."""

    pid: int
    session: int
    user: int

    def is_of(self, job: Running) -> bool:
        return self.session == job.pid or (job.user != 0 and self.user == job.user)


def _processes() -> list[Process]:
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if fields[0] not in "ZX":
                    found.append(Process(int(entry.name), int(fields[3]), os.stat(entry.path).st_uid))
    return found


def _alive(job: Running) -> list[int]:
    return [process.pid for process in _processes() if process.is_of(job)]


def _say(message: object) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
