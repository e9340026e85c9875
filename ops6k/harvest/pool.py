"""Two killable workers that try operators: a hang or a crash costs its own entry and nothing else.

A worker is a fresh interpreter (worker.py) that imports the libraries once and forks a child for each batch of entries,
so that a child that had to be killed is replaced in milliseconds. Standard library only.
"""

import json
import os
import select
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
_NEXT = "next"  # a worker has answered its batch
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTHONPATH")


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one entry: what its function returned, or how its child ended."""

    entry: str
    value: dict | list | None
    failure: str
    """`no answer within 20 s`, `child ended by signal 11`; empty where there is a value."""


class Pool:
    """Workers that have imported some modules and answer entries for any function; a context manager that ends them."""

    def __init__(self, imports: tuple[str, ...], *, workers: int = 2) -> None:
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
        self._workers = [_Worker(imports, self._noise) for _ in range(workers)]

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        self._noise.close()

    def answers(self, function: str, batches: Iterable[tuple[str, ...]], *, timeout_s: float) -> Iterator[Answer]:
        """One answer for each entry, as they come.

        function: `module:function`, takes an entry and returns JSON-ready values. Entries of a batch share a child, in order.
        timeout_s: wall time of one entry. Raises WorkerError where a worker itself cannot start or dies.
        """
        waiting = deque((function, timeout_s, batch) for batch in batches)
        busy = [worker for worker in self._workers if worker.takes(waiting)]
        while busy:
            for worker in select.select(busy, [], [])[0]:
                for message in self._received(worker):
                    if message != _NEXT:
                        yield Answer(*message)
                    elif not worker.takes(waiting):
                        busy.remove(worker)

    def _received(self, worker: "_Worker") -> list:
        messages = worker.messages()
        if messages is None:
            raise WorkerError(f"a harvest worker ended with code {worker.process.wait()}: {_last_line(self._noise)}")
        return messages


class _Worker:
    """One worker process; its answers come as lines, however its pipe cuts them."""

    def __init__(self, imports: tuple[str, ...], noise: IO[bytes]) -> None:
        # The package's folder comes first on the path, so that the worker runs this very code.
        here = str(Path(__file__).resolve().parents[2])
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        path = os.pathsep.join([here, *filter(None, [kept.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "ops6k.harvest.worker", *imports]
        settings = {**kept, **_SETTINGS, "PYTHONPATH": path}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise, env=settings, bufsize=0
        )
        self._rest = b""

    def fileno(self) -> int:
        return self.process.stdout.fileno()

    def takes(self, waiting: deque) -> bool:
        """Whether there was a batch to take; a worker that died shows at its output."""
        if not waiting:
            return False
        try:
            self.process.stdin.write(json.dumps(waiting.popleft()).encode() + b"\n")
        except BrokenPipeError:
            return True
        return True

    def messages(self) -> list | None:
        """What has come, without waiting for more; None at the end."""
        part = os.read(self.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + part).split(b"\n")
        return [json.loads(line) for line in lines] if part else None

    def end(self) -> None:
        """A worker ends, and ends its child, when its input ends."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def _last_line(noise: IO[bytes]) -> str:
    noise.seek(0)
    lines = noise.read().decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"
