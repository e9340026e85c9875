"""What a child does between fork and exit: confine itself, run one function, leave its answer in its own folder.

Confinement: its own session and folder (home, temporary files and compiler caches), limits on file size, open files,
processes and core dumps, no network where the kernel allows a network namespace, standard streams to files, no
environment beyond the allow-list.
Not stopped here: reading files that its user may read. The text checks refuse code that would.
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
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
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
    _unshare_network()
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_NPROC, PROCESSES),
    ):
        resource.setrlimit(limit, (value, value))
    if settings["device"] == "cpu":
        # Not on a GPU: CUDA maps far more address space than it uses.
        soft = int(spec["memory_gib"] * 2**30) + 2 * 2**30
        resource.setrlimit(resource.RLIMIT_DATA, (soft, soft))


def _unshare_network() -> None:
    """A network namespace of its own, empty; quietly not where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)
