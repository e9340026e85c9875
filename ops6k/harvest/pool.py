"""Two killable workers that try operators: a hang or a crash costs its own entry and nothing else.

A worker is a fresh interpreter (worker.py) that imports the libraries once and forks a child for each batch of entries,
so that a child that had to be killed is replaced in milliseconds. Standard library only.
"""

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ops6k.errors import WorkerError

# CPU only, one thread, no network and fixed hashes: the same lines on every machine.
_SETTINGS = {
    "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONWARNINGS": "ignore",
}
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTHONPATH")


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one entry: what its function returned, or how its child ended."""

    entry: str
    value: dict | list | None
    failure: str
    """`no answer within 20 s`, `child ended by signal 11`; empty where there is a value."""


@dataclass(frozen=True, slots=True)
class Work:
    """Entries for one function, `module:function`; it takes an entry and returns JSON-ready values."""

    function: str
    imports: tuple[str, ...]
    """Modules that a worker imports once, before it forks."""
    timeout_s: float
    """Wall time of one entry."""
    workers: int = 2


def answers(work: Work, batches: Iterable[tuple[str, ...]]) -> Iterator[Answer]:
    """One answer for each entry, as they come. Entries of a batch share a child, in order.

    Raises WorkerError where a worker itself cannot start or dies; ends its workers when closed.
    """
    waiting = deque(batches)
    with tempfile.TemporaryFile() as noise, selectors.DefaultSelector() as ready:
        started = [_Worker(work, noise) for _ in range(min(work.workers, len(waiting)))]
        try:
            for worker in started:
                ready.register(worker.process.stdout, selectors.EVENT_READ, worker)
                worker.send(waiting)
            while ready.get_map():
                for key, _ in ready.select():
                    yield from _received(key.data, waiting, ready, noise)
        finally:
            for worker in started:
                worker.end()


class _Worker:
    """One worker process; its answers come as lines, however its pipe cuts them."""

    def __init__(self, work: Work, noise: IO[bytes]) -> None:
        # The package's folder comes first on the path, so that the worker runs this very code.
        here = str(Path(__file__).resolve().parents[2])
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        path = os.pathsep.join([here, *filter(None, [kept.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "ops6k.harvest.worker", work.function, str(work.timeout_s), *work.imports]
        settings = {**kept, **_SETTINGS, "PYTHONPATH": path}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise, env=settings, bufsize=0
        )
        self._rest = b""

    def send(self, waiting: deque) -> None:
        """The next batch, or the end of input; a worker that died shows at its output."""
        try:
            if waiting:
                self.process.stdin.write(json.dumps(waiting.popleft()).encode() + b"\n")
            else:
                self.process.stdin.close()
        except BrokenPipeError:
            return

    def lines(self) -> list[bytes] | None:
        """Whole lines that have come, without waiting for more; None at the end."""
        part = os.read(self.process.stdout.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + part).split(b"\n")
        return lines if part else None

    def end(self) -> None:
        """A worker ends, and ends its child, when its input ends."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def _received(worker: _Worker, waiting: deque, ready: selectors.BaseSelector, noise: IO[bytes]) -> Iterator[Answer]:
    lines = worker.lines()
    if lines is None:
        ready.unregister(worker.process.stdout)
        if worker.process.wait() != 0:
            raise WorkerError(f"a harvest worker ended with code {worker.process.returncode}: {_last_line(noise)}")
        return
    for line in lines:
        message = json.loads(line)
        if message == "next":
            worker.send(waiting)
        else:
            yield Answer(*message)


def _last_line(noise: IO[bytes]) -> str:
    noise.seek(0)
    lines = noise.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"
