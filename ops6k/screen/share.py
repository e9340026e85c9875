"""What a child takes of the device that it shares with others: memory lent from a pool, turns to compute, time alone."""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from ops6k.sandbox import turns
from ops6k.sandbox.pool import held


@dataclass
class Share:
    """One child's part. On a CPU there are no turns: only timing is alone."""

    device: str
    lock: Path
    pool: Path
    pool_bytes: int
    waited: float = 0.0
    """Seconds that this child has waited for others."""
    used: Counter[str] = field(default_factory=Counter)
    """Seconds of its turns at the device, by phase."""
    phase: str = ""

    @contextlib.contextmanager
    def memory(self, amount: int) -> Iterator[None]:
        """So many bytes beyond what it was admitted with."""
        began = time.monotonic()
        with held(self.pool, max(amount, 0), self.pool_bytes):
            self.waited += time.monotonic() - began
            try:
                yield
            finally:
                if self.device == "cuda":
                    torch.cuda.empty_cache()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Work on the device beside others."""
        if self.device != "cuda":
            yield
            return
        with self._counted(turns.shared(self.lock)):
            yield
            torch.cuda.synchronize()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Work on the device that nobody disturbs."""
        with self._counted(turns.alone(self.lock)):
            yield

    @contextlib.contextmanager
    def _counted(self, turn: contextlib.AbstractContextManager) -> Iterator[None]:
        began = time.monotonic()
        with turn:
            entered = time.monotonic()
            self.waited += entered - began
            try:
                yield
            finally:
                self.used[self.phase] += time.monotonic() - entered
