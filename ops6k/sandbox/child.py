"""What a child does between fork and exit: confine itself, run one function, leave its answer in its own folder.

Confinement: the server's jail (see ops6k.sandbox.jail), a user of its own where the server is root, its own session and
folder (home, temporary files and compiler caches), limits on file size, files and bytes in its folder, open files, processes,
memory and core dumps, no capabilities, standard streams to files, no environment beyond the allow-list.
An answer counts only with the token that this process alone was told, and what judges is compared at the end with what it was
(ops6k.sandbox.intact): a shell that a candidate starts cannot answer for it. Code that reads this process's memory or walks up
its frames unseen (from a signal's handler, say) can.
Where the jail is refused: a network namespace if the kernel gives one, and then reading files that its user may read is not
stopped here. Where the server is not root children share one user: they can signal one another and write to one another's
folders until they end.
Never stopped: load on the cores; the device's lock held for as long as the time limit lets it, which others wait out.
"""

import ctypes
import importlib
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from ops6k.sandbox import intact

CLONE_NEWNET = 0x40000000
CLONE_NEWUSER = 0x10000000
FILE_BYTES = 2 * 2**30
OPEN_FILES = 4096
PROCESSES = 4096
"""Of a user that is not the child's alone; threads count too."""
OWN_PROCESSES = 1024

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38
CAPABILITY_VERSION = 0x20080522

Form = Callable[[dict, str, str], dict]
"""The answer for a payload, a phase and what was attempted."""

_phase_file: Path | None = None


class _Ending:
    """Holds what `take_ending` gives, until it is taken."""

    offer: Callable[[Form], Callable[[str], None]] | None = None


_ending = _Ending()


def enter(phase: str) -> None:
    """Say which phase begins: what the caller learns of a child that is killed."""
    if _phase_file is not None:
        _phase_file.write_text(phase)


def take_ending(form: Form) -> Callable[[str], None] | None:
    """For whoever watches a candidate's code: ends this child with the answer that `form` makes of what was attempted.

    Given once, before that code runs: who holds it could answer in the child's name. None outside a child.
    """
    offer, _ending.offer = _ending.offer, None
    return offer(form) if offer else None


def run(home: Path, token: str, spec: dict, settings: dict) -> None:
    """The whole life of a child; ends the process.

    token: known to the caller and this process's memory alone; an answer without it is none.
    """
    status = 1
    forms: list[Form] = []
    try:
        confine(home, spec, settings)
        module, _, name = spec["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        leave, end = _answering(home, token), os._exit

        def attempted(what: str) -> None:
            leave(forms[0](spec["payload"], (home / "phase").read_text() if (home / "phase").exists() else "", what))
            end(0)

        def offer(form: Form) -> Callable[[str], None]:
            forms.append(form)
            return attempted

        changed, _ending.offer = intact.changes(), offer
        answer = function(spec["payload"])
        if what := changed():
            if forms:
                attempted(f"changes {what}")
            raise RuntimeError(f"changed while it ran: {what}")
        leave(answer)
        status = 0
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
            sys.stderr.flush()
        # Threads and exit handlers that a candidate left must not keep the process or change its answer.
        os._exit(status)


def _answering(home: Path, token: str) -> Callable[[dict], None]:
    """What writes the answer, with all that it needs in its own hands: names elsewhere may have been changed by then."""
    dumps, write, replace, aside, place = json.dumps, Path.write_text, os.replace, home / ".answer", home / "answer.json"

    def leave(answer: dict) -> None:
        write(aside, dumps({"token": token, "answer": answer}), encoding="utf-8")
        replace(aside, place)

    return leave


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
        (resource.RLIMIT_NPROC, OWN_PROCESSES if settings["user"] else PROCESSES),
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
    if not settings["jail"] or os.geteuid() != 0:
        _drop_capabilities()


def _drop_capabilities() -> None:
    """For good: in a user namespace of one's own they would allow to mount; and nothing of its user may read its memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    libc.capset(header, none)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _unshare_network() -> None:
    """A network namespace of its own, empty; quietly not where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)
