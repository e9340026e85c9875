"""A number of bytes that children share: each holds a part for as long as it needs it, and the parts of the dead are free.

A file beside the device lock, under flock: {process id: bytes}. Processes see one another's ids, since all live in one jail.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ops6k.sandbox.turns import gate_of

WAIT_S = 0.05
PATIENCE_S = 5.0
"""Smaller parts may pass one that does not fit yet for so long; then all others wait behind it."""
LONGEST = 2**16
"""Characters that are read of the file."""


@contextlib.contextmanager
def held(path: Path, amount: int, total: int) -> Iterator[None]:
    """Waits until `amount` fits into `total` beside what others hold, or nobody holds anything.

    Whoever takes a part passes a gate, and who has lost patience stands in it, so that small parts cannot keep a large one
    waiting until its time limit: a task of 20 GiB waited for 41 of 70 GiB and was killed after 120 s.
    """
    if amount:
        began = time.monotonic()
        while not _through_gate(path, amount, total, patient=time.monotonic() - began < PATIENCE_S):
            time.sleep(WAIT_S)
    try:
        yield
    finally:
        _take(path, 0, total)


def _through_gate(path: Path, amount: int, total: int, *, patient: bool) -> bool:
    with gate_of(path).open("rb") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        while not _take(path, amount, total):
            if patient:
                return False
            time.sleep(WAIT_S)
    return True


def _take(path: Path, amount: int, total: int) -> bool:
    """Sets this process's part; False where it does not fit."""
    with path.open("r+", encoding="utf-8", errors="replace") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        parts = _alive(file.read(LONGEST))
        parts.pop(os.getpid(), None)
        if amount and parts and sum(parts.values()) + amount > total:
            return False
        if amount:
            parts[os.getpid()] = amount
        file.seek(0)
        file.truncate()
        json.dump(parts, file)
    return True


def _alive(text: str) -> dict[int, int]:
    try:
        parts = {int(pid): int(amount) for pid, amount in json.loads(text or "{}").items()}
    except (ValueError, AttributeError, TypeError, OverflowError, RecursionError):
        return {}  # a child may write here too: nonsense frees everything, and memory that is not there is a verdict of its own
    return {pid: amount for pid, amount in parts.items() if amount > 0 and _is_sibling(pid)}


def _is_sibling(pid: int) -> bool:
    """Whether the same server forked it, and it lives: a part in another's name would be held for ever."""
    try:
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(fields[1]) == os.getppid() and fields[0] not in "ZX"
