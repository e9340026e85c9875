"""What a task's own code reaches for while it runs: files, processes, sockets, libraries, seen by Python's audit events.

The sandbox keeps such attempts from succeeding; this says that they were made, so that the verdict is `unsafe/runtime` and not
whatever the failed attempt led to. In a child of the sandbox the first attempt is also the last: the process ends before the
call is made, with that verdict as its answer. Seen are calls while a check runs the task's code, and at any other time calls
with the task's own lines on the stack: torch and its compilers open files too, at other times.
An audit hook cannot be removed, and sees calls through Python only: not the C++ of torch and of other packages, not
_posixsubprocess.fork_exec, not frames handed to a signal's handler, not a write to a descriptor that is open. The jail and
the token of a child's answer (ops6k.sandbox.child) stand against those.
"""

import contextlib
import ctypes
import functools
import os
import sys
import sysconfig
from _thread import get_ident
from collections.abc import Callable, Iterator

from ops6k.records import Outcome, Reason, Verdict
from ops6k.sandbox.child import take_ending
from ops6k.store import to_plain

TASK_FILE = "<task>"
"""What load_task calls the file that a task's lines come from."""

_REFUSED = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.kill", "os.putenv",
    "os.unsetenv", "os.chmod", "os.chown", "os.link", "os.symlink", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate",
    "os.listdir", "os.scandir", "shutil.", "ctypes.", "pty.", "syslog.", "signal.pthread_kill", "mmap.", "tempfile.", "sys.addaudithook",
    "sys.settrace", "sys.setprofile", "sys._current", "gc.", "pickle.find_class", "urllib.", "http.", "ftplib.", "smtplib.", "poplib.",
    "imaplib.", "nntplib.", "telnetlib.", "webbrowser.", "sqlite3.", "code.__new__", "function.__new__", "os.chdir", "os.chflags",
    "os.setxattr", "os.removexattr", "os.utime", "os.walk", "os.fwalk", "glob.", "resource.", "fcntl.", "_thread.start_new_thread",
    "cpython.run_",
)  # fmt: skip
_BY_HAND = ("sys._getframe", "object.__getattr__", "object.__setattr__", "object.__delattr__", "exec", "compile")
"""Python's own typing, warnings and dataclasses and torch's dispatch do this all the time: looked at where the very line that
does it is the task's."""
_CTYPES = os.path.dirname(ctypes.__file__)

_seen: list[str] = []
_depth = _paused = 0


@functools.cache
def install() -> None:
    """Once in a child, before any task's code runs there."""
    sys.addaudithook(_hook(take_ending(_verdict), _readable()))


def attempts() -> tuple[str, ...]:
    """What was reached for so far, in order; where a child ends with its first attempt nobody is left to ask."""
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


@contextlib.contextmanager
def torchs_own() -> Iterator[None]:
    """While code that torch's compiler made runs for a frame of the task: its first launch loads what was compiled."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


def _verdict(payload: dict, phase: str, what: str) -> dict:
    """A child's answer after an attempt."""
    message = f"while it ran: {what}".encode("utf-8", "backslashreplace").decode()
    verdict = Verdict(payload["candidate_id"], Outcome.UNSAFE, Reason.UNSAFE_RUNTIME, message, phase or "dry_run")
    return {"verdict": to_plain(verdict)}


def _hook(end: Callable[[str], None] | None, readable: tuple[str, ...]) -> Callable[[str, tuple], None]:
    """The audit hook. `end` is in its hands alone: through it the token of the child's answer could be found."""
    inside: set[int] = set()
    """Threads that are in the hook: what it does itself raises events too."""

    def hook(event: str, arguments: tuple) -> None:
        thread = get_ident()
        if _paused or thread in inside or not (event == "open" or event.startswith(_REFUSED) or event in _BY_HAND):
            return
        inside.add(thread)
        try:
            what = _attempt(event, arguments, readable)
            if what:
                _seen.append(what)
                if end is not None:
                    end(what)
        finally:
            inside.discard(thread)

    return hook


def _attempt(event: str, arguments: tuple, readable: tuple[str, ...]) -> str:
    """What an event says about the task; empty where it is none of its doing, or may be done."""
    by_hand = _files(1)[0] == TASK_FILE
    if event in _BY_HAND:
        return " ".join([event, *(word for word in arguments[1:2] if isinstance(word, str))])[:80] if by_hand else ""
    if _depth == 0 and TASK_FILE not in _files():
        return ""
    if event in ("os.listdir", "os.scandir") and not by_hand and _is_within(arguments[0] or ".", readable):
        return ""  # an import looks for its file
    if event.startswith("glob.") and not by_hand:
        return ""  # torch lists its own files for an error's message; what a pattern meets is listed by calls that are seen too
    if event == "open":
        path, mode, flags = (*arguments, None, None)[:3]
        opens = isinstance(path, str | bytes) and not _may_open(os.fsdecode(path), mode, flags, readable)
        return f"opens {os.fsdecode(path)[:80]}" if opens else ""
    return "" if _loads_own_library(event, arguments, readable) else event


def _files(depth: int = -1) -> list[str]:
    """Files of the lines that are being run, innermost first, those of this module and of ctypes left out; at most `depth`."""
    frame, found = sys._getframe(1), []
    while frame is not None and len(found) != depth:
        name = frame.f_code.co_filename
        if name != __file__ and not name.startswith(_CTYPES):
            found.append(name)
        frame = frame.f_back
    return found or [""]


def _loads_own_library(event: str, arguments: tuple, readable: tuple[str, ...]) -> bool:
    """torch opens CUDA's libraries by name when an operator first needs one."""
    if not event.startswith("ctypes.") or _files(1)[0] == TASK_FILE:
        return False
    if event.startswith("ctypes.dlsym"):
        return True
    name = str(arguments[0]) if event == "ctypes.dlopen" and arguments else ""
    return os.path.basename(name).startswith(("libcu", "libnv")) or name.startswith(readable)


def _may_open(path: str, mode: object, flags: object, readable: tuple[str, ...]) -> bool:
    """Reading what an import reads: Python, its packages and this one."""
    writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR))
    return not writes and _is_within(path, readable)


def _is_within(path: object, folders: tuple[str, ...]) -> bool:
    return isinstance(path, str) and f"{os.path.realpath(path)}{os.sep}".startswith(folders)


def _readable() -> tuple[str, ...]:
    """Folders that imports read from. Not the folder that holds this package: in a clone that is the project, data and all."""
    package = os.path.dirname(os.path.dirname(__file__))
    installed = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    entries = [entry for entry in sys.path if entry and (entry != os.path.dirname(package) or entry in installed)]
    roots = (os.path.realpath(root) for root in (sys.base_prefix, sys.prefix, *entries, package))
    return tuple(f"{root}{os.sep}" for root in roots if root != "/")
