"""What a child does between fork and exit: confine itself, run one function, leave its answer in its own folder.

Confinement: the server's jail (see ops6k.sandbox.jail), a user of its own where the server is root, its own session and
folder (home, temporary files and compiler caches), limits on file size, open files, processes, memory and core dumps,
standard streams to files, no environment beyond the allow-list.
Where the jail is refused: a network namespace if the kernel gives one, and then reading files that its user may read is not
stopped here. Never stopped: many small files that fill the disk within the time limit, and load on the cores.
"""

import ctypes
import importlib
import json
import os
import resource
import sys
import traceback
from pathlib import Path

CLONE_NEWNET = 0x40000000
CLONE_NEWUSER = 0x10000000
FILE_BYTES = 2 * 2**30
OPEN_FILES = 4096
PROCESSES = 4096

_phase_file: Path | None = None


def enter(phase: str) -> None:
    """Say which phase begins: what the caller learns of a child that is killed."""
    if _phase_file is not None:
        _phase_file.write_text(phase)


def run(home: Path, spec: dict, settings: dict) -> None:
    """The whole life of a child; ends the process."""
    status = 1
    try:
        confine(home, spec, settings)
        module, _, name = spec["function"].partition(":")
        answer = getattr(importlib.import_module(module), name)(spec["payload"])
        aside = home / ".answer"
        aside.write_text(json.dumps(answer), encoding="utf-8")
        os.replace(aside, home / "answer.json")
        status = 0
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
            sys.stderr.flush()
        # Threads and exit handlers that a candidate left must not keep the process or change its answer.
        os._exit(status)


def confine(home: Path, spec: dict, settings: dict) -> None:
    global _phase_file
    os.setsid()
    os.chdir(home)
    _phase_file = home / "phase"
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, stream)
    os.closerange(3, 256)
    for variable in ("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME"):
        os.environ[variable] = str(home)
    if settings["jail"]:
        _unshare_network()
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_NPROC, PROCESSES),
    ):
        resource.setrlimit(limit, (value, value))
    if settings["user"]:
        os.setgroups([])
        os.setgid(settings["user"])
        os.setuid(settings["user"])
    if settings["device"] == "cpu":
        # Not on a GPU: CUDA maps far more address space than it uses.
        soft = int(spec["memory_gib"] * 2**30) + 2 * 2**30
        resource.setrlimit(resource.RLIMIT_DATA, (soft, soft))


def _unshare_network() -> None:
    """A network namespace of its own, empty; quietly not where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)
