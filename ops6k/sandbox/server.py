"""The fork server: preloads torch once, forks a child a job, enforces time and memory, kills by group.

Started with a clean environment; job ids come in on standard input, one JSON line a finished job goes out. When standard
input closes (the caller ended, however), every child is killed.
"""

import contextlib
import ctypes
import importlib
import json
import os
import selectors
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ops6k.sandbox import child, jail

POLL_S = 0.05
KILL_ROUNDS = 50
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


def serve(settings: dict) -> None:
    _die_with(settings["caller"])
    settings["jail"] = _jailed([Path(path) for path in settings["show"]])
    for module in settings["preload"].split(","):
        importlib.import_module(module)
    if settings["warm_up"]:
        module, _, name = settings["warm_up"].partition(":")
        getattr(importlib.import_module(module), name)()
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
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        while True:
            if selector.select(POLL_S if running else None):
                data = os.read(0, 65536)
                if not data:
                    return
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    job = _fork(line.decode(), settings)
                    running[job.pid] = job
            for job in running.values():
                _enforce(job)
            _reap(running)


def _fork(job_id: str, settings: dict) -> Running:
    home = Path(job_id).absolute()
    spec = json.loads((home / "job.json").read_text(encoding="utf-8"))
    # A user of its own for each child: they cannot signal, trace or read one another, nor what comes after them.
    settings["users"] = settings.get("users", 0) + 1
    user = FIRST_USER + settings["users"] % USERS if os.geteuid() == 0 and not settings["jail"] else 0
    if user:
        os.chown(home, user, user)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        child.run(home, spec, settings | {"user": user})  # never returns
    return Running(job_id, pid, time.monotonic(), spec["timeout_s"], spec["memory_gib"] * 2**30, user)


def _enforce(job: Running) -> None:
    if job.killed:
        return
    if time.monotonic() - job.began > job.timeout_s:
        job.killed = "timeout"
    elif _group_bytes(job.pid) > job.memory_bytes:
        job.killed = "memory"
    if job.killed:
        _kill(job)


def _group_bytes(session: int) -> int:
    """Resident bytes of every process of a session; a process that ends meanwhile counts nothing."""
    total = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session:
                    # Pages shared with the fork server (torch itself) are not the child's.
                    _, resident, shared = Path(entry.path, "statm").read_text().split()[:3]
                    total += (int(resident) - int(shared)) * PAGE
    return total


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
        _kill(job)  # what it left running in its session
        answered = status == 0 and Path(job.job_id, "answer.json").exists()
        how = job.killed or ("answered" if answered else "crashed")
        code = os.waitstatus_to_exitcode(status)
        detail = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
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


def _alive(job: Running) -> list[int]:
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                own = int(fields[3]) == job.pid or (job.user and os.stat(entry.path).st_uid == job.user)
                if own and fields[0] not in "ZX":
                    found.append(int(entry.name))
    return found


def _say(message: object) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
