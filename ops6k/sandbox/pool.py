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

WAIT_S = 0.05


@contextlib.contextmanager
def held(path: Path, amount: int, total: int) -> Iterator[None]:
    """Waits until `amount` fits into `total` beside what others hold, or nobody holds anything."""
    while not _take(path, amount, total):
        time.sleep(WAIT_S)
    try:
        yield
    finally:
        _take(path, 0, total)


def _take(path: Path, amount: int, total: int) -> bool:
    """Sets this process's part; False where it does not fit."""
    with path.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        parts = _alive(file.read())
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
    except (ValueError, AttributeError, TypeError):
        return {}  # a child may write here too: nonsense frees everything, and memory that is not there is a verdict of its own
    return {pid: amount for pid, amount in parts.items() if Path("/proc", str(pid)).exists()}
