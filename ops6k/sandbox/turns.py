"""Turns at the device among children: many may work on it at once, unless one times something.

Two files under flock, `<lock>` and `<lock>.gate`; the kernel releases both on any death. Whoever wants a turn passes the gate,
and who waits to be alone stands in it: so those who share cannot keep it waiting for ever.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def gate_of(lock: Path) -> Path:
    return lock.with_name(f"{lock.name}.gate")


@contextmanager
def shared(lock: Path) -> Iterator[None]:
    """Beside others, but nobody who is alone."""
    with gate_of(lock).open("rb") as gate, lock.open("rb") as file:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(file, fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """The device to itself."""
    with gate_of(lock).open("rb") as gate, lock.open("rb") as file:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
