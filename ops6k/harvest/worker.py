"""One worker of the harvest, run as `python -m ops6k.harvest.worker IMPORT...`.

Reads batches (JSON: function, seconds for one entry, entries) from standard input, writes answers and "next" to standard
output. Each batch runs in a forked child; an entry without an answer in time costs its child, and the rest of the batch
goes on in another.
"""

import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TextIO

MEMORY_BYTES = 6 << 30  # of one child: larger instances are no example of an operator
_IN = 0
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of linux/prctl.h


def main() -> None:
    # Answers go to a copy of standard output; what libraries print goes to standard error.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    refuse_network()
    for name in sys.argv[1:]:
        import_module(name)
    buffer = b""
    while batch := _next_line(buffer):
        line, buffer = batch
        function, timeout_s, entries = json.loads(line)
        module, _, name = function.partition(":")
        call: Callable[[str], object] = getattr(import_module(module), name)
        gc.freeze()  # a child's collector would touch, and so copy, every object of its parent
        _run_batch(call, entries, timeout_s, out)
        print(json.dumps("next"), file=out)


def refuse_network() -> None:
    """From here on, no socket of this process connects."""

    def refused(*_: object) -> None:
        raise OSError("the harvest has no network")

    socket.socket.connect = socket.socket.connect_ex = refused


def _next_line(buffer: bytes) -> tuple[bytes, bytes] | None:
    while b"\n" not in buffer:
        part = os.read(_IN, 65536)
        if not part:
            return None
        buffer += part
    line, _, rest = buffer.partition(b"\n")
    return line, rest


def _run_batch(call: Callable[[str], object], entries: list[str], timeout_s: float, out: TextIO) -> None:
    while entries:
        child, pipe = _fork(call, entries)
        answered, failure = _relay(child, pipe, timeout_s, out)
        entries = entries[answered:]
        if entries and failure:
            print(json.dumps([entries[0], None, failure]), file=out)
            entries = entries[1:]


def _fork(call: Callable[[str], object], entries: list[str]) -> tuple[int, int]:
    """A child that answers each entry, one line each."""
    reads, writes = os.pipe()
    child = os.fork()
    if child:
        os.close(writes)
        return child, reads
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    os.close(reads)
    os.dup2(os.open(os.devnull, os.O_RDONLY), _IN)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(writes, "w", buffering=1)
    for entry in entries:
        sys.excepthook = partial(_say_why, entry, answers)
        print(json.dumps([entry, call(entry), ""]), file=answers)
    # No exit handlers: they belong to the worker that forked.
    os._exit(0)


def _say_why(entry: str, answers: TextIO, kind: type, error: BaseException, _: object) -> None:
    """The hook for an exception that nothing caught: it ends the child, and its first line is the entry's answer."""
    text = " ".join(str(error).split())
    print(json.dumps([entry, None, f"{kind.__name__}: {text}"[:160]]), file=answers, flush=True)


def _relay(child: int, pipe: int, timeout_s: float, out: TextIO) -> tuple[int, str]:
    """Passes the child's lines on; how many came, and how the child ended unless its last line says so."""
    answered, buffer, last, since = 0, b"", b"", _Clock(child)
    while True:
        ready, _, _ = select.select([pipe], [], [], min(1.0, max(0.05, timeout_s - since.wall_s)))
        if not ready:
            if _input_ended():
                _kill(child, pipe)
                sys.exit("the harvest went away")
            if since.is_over(timeout_s):
                _kill(child, pipe)
                return answered, f"no answer within {timeout_s:g} s"
            continue
        part = os.read(pipe, 65536)
        if not part:
            os.close(pipe)
            ended = _how_it_ended(os.waitpid(child, 0)[1])
            return answered, "" if last and json.loads(last)[2] else ended
        *lines, buffer = (buffer + part).split(b"\n")
        for last in lines:
            print(last.decode(), file=out)
        if lines:
            answered, since = answered + len(lines), _Clock(child)


class _Clock:
    """How long a child has been at one entry. What it waits for a crowded machine's cores does not count."""

    PATIENCE = 10
    """Times the limit in wall time, after which it is over whatever the reason."""

    def __init__(self, child: int) -> None:
        self._child = child
        self._began_s = time.monotonic()
        self._cpu_began_s, _ = self._state()

    @property
    def wall_s(self) -> float:
        return time.monotonic() - self._began_s

    def is_over(self, timeout_s: float) -> bool:
        if self.wall_s < timeout_s:
            return False
        cpu_s, is_running = self._state()
        return not is_running or cpu_s - self._cpu_began_s >= timeout_s or self.wall_s >= self.PATIENCE * timeout_s

    def _state(self) -> tuple[float, bool]:
        """CPU seconds so far, and whether it runs, wants to run, or waits for the disk."""
        fields = Path(f"/proc/{self._child}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] in "RD"


def _input_ended() -> bool:
    """The harvest itself is gone: standard input hangs up (a batch is sent only when asked for)."""
    poll = select.poll()
    poll.register(_IN, select.POLLHUP)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _kill(child: int, pipe: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(pipe)


def _how_it_ended(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"child ended by signal {os.WTERMSIG(status)}"
    return f"child ended with code {os.waitstatus_to_exitcode(status)}"


if __name__ == "__main__":
    main()
