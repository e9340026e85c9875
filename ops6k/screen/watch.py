"""What a task's own code reaches for while it runs: files, processes, sockets, libraries, seen by Python's audit events.

The sandbox keeps such attempts from succeeding; this says that they were made, so that the verdict is `unsafe/runtime` and not
whatever the failed attempt led to. Only while the task's code runs: torch and its compilers open files too, at other times.
An audit hook cannot be removed, and sees calls through Python only.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

_REFUSED = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.kill", "os.putenv",
    "os.unsetenv", "os.chmod", "os.chown", "os.link", "os.symlink", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate",
    "os.listdir", "os.scandir", "shutil.", "ctypes.", "pty.", "syslog.", "signal.pthread_kill", "mmap.", "tempfile.", "sys.addaudithook",
    "sys.settrace", "sys.setprofile", "sys._getframe", "gc.get_objects", "gc.get_referrers", "pickle.find_class", "urllib.", "http.",
    "code.__new__", "function.__new__", "os.chdir", "resource.", "fcntl.",
)  # fmt: skip
_QUIET = ("sys._getframe", "sys._getframemodulename")
"""Python's own typing, warnings and torch's dispatch look at frames all the time."""

_seen: list[str] = []
_depth = 0
_installed = False


def install() -> None:
    """Once in a child, before any task's code runs there."""
    global _installed
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True


def attempts() -> tuple[str, ...]:
    """What was reached for so far, in order."""
    return tuple(_seen)


@contextlib.contextmanager
def watching() -> Iterator[None]:
    """While a task's own code runs."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def _hook(event: str, arguments: tuple) -> None:
    if _depth == 0 or event in _QUIET:
        return
    if event == "open":
        path, mode, flags = (*arguments, None, None)[:3]
        if isinstance(path, str | bytes) and not _may_open(os.fsdecode(path), mode, flags):
            _seen.append(f"opens {os.fsdecode(path)[:80]}")
    elif event.startswith(_REFUSED) and not _loads_own_library(event, arguments):
        _seen.append(event)


def _loads_own_library(event: str, arguments: tuple) -> bool:
    """torch opens CUDA's libraries by name when an operator first needs one."""
    if event.startswith("ctypes.dlsym"):
        return True
    name = str(arguments[0]) if event == "ctypes.dlopen" and arguments else ""
    return os.path.basename(name).startswith(("libcu", "libnv")) or name.startswith(_readable())


def _may_open(path: str, mode: object, flags: object) -> bool:
    """Reading what an import reads: Python, its packages and this one."""
    writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR))
    return not writes and os.path.realpath(path).startswith(_readable())


def _readable() -> tuple[str, ...]:
    roots = (sys.base_prefix, sys.prefix, *(entry for entry in sys.path if entry), os.path.dirname(os.path.dirname(__file__)))
    return tuple(os.path.realpath(root) for root in roots if root != "/")
