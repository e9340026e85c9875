"""One worker of the harvest, run as `python -m ops6k.harvest.worker FUNCTION TIMEOUT_S IMPORT...`.

Reads batches (JSON lists of entries) from standard input, writes answers and "next" to standard output. Each batch runs in
a forked child; an entry without an answer in time costs its child, and the rest of the batch goes on in another.
"""

import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from importlib import import_module

MEMORY_BYTES = 6 << 30  # of one child: larger instances are no example of an operator
_IN = 0
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of linux/prctl.h


def main() -> None:
    function, timeout_s, *imports = sys.argv[1:]
    # Answers go to a copy of standard output; what libraries print goes to standard error.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    refuse_network()
    for name in imports:
        import_module(name)
    module, _, name = function.partition(":")
    call: Callable[[str], object] = getattr(import_module(module), name)
    buffer = b""
    while batch := _next_line(buffer):
        line, buffer = batch
        _run_batch(call, json.loads(line), float(timeout_s), out)
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


def _run_batch(call: Callable[[str], object], entries: list[str], timeout_s: float, out: object) -> None:
    while entries:
        child, pipe = _fork(call, entries)
        answered, failure = _relay(child, pipe, timeout_s, out)
        entries = entries[answered:]
        if entries:
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
    with os.fdopen(writes, "w", buffering=1) as answers:
        for entry in entries:
            print(json.dumps([entry, call(entry), ""]), file=answers)
    # No exit handlers: they belong to the worker that forked.
    os._exit(0)


def _relay(child: int, pipe: int, timeout_s: float, out: object) -> tuple[int, str]:
    """Passes the child's lines on; how many came, and how the child ended."""
    answered, buffer, deadline = 0, b"", time.monotonic() + timeout_s
    while True:
        ready, _, _ = select.select([pipe], [], [], min(1.0, max(0.0, deadline - time.monotonic())))
        if not ready:
            if _input_ended():
                _kill(child, pipe)
                sys.exit("the harvest went away")
            if time.monotonic() >= deadline:
                _kill(child, pipe)
                return answered, f"no answer within {timeout_s:g} s"
            continue
        part = os.read(pipe, 65536)
        if not part:
            os.close(pipe)
            return answered, _how_it_ended(os.waitpid(child, 0)[1])
        *lines, buffer = (buffer + part).split(b"\n")
        for line in lines:
            print(line.decode(), file=out)
        if lines:
            answered, deadline = answered + len(lines), time.monotonic() + timeout_s


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
