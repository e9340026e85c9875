"""How a long stage says where it is: done, rate, ETA and a note, to whatever display is set.

Standard library only. The default display prints plain lines; the command line sets a rich one (ops6k/console.py), the
Prefect flow one that writes artifacts.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass
class Tracker:
    """Progress of one stage."""

    stage: str
    total: int
    done: int = 0
    note: str = ""
    began: float = field(default_factory=time.monotonic)
    parts: dict[str, str | None] = field(default_factory=dict)
    """Shards or batches begun so far, `screen-0007`, and what came of each; None while it is at work. For displays that show them."""

    @property
    def per_second(self) -> float:
        return self.done / max(time.monotonic() - self.began, 1e-9)

    @property
    def eta_s(self) -> float | None:
        """Seconds to go at the rate so far; None before anything is done."""
        return (self.total - self.done) / self.per_second if self.done else None

    def advance(self, count: int = 1, note: str = "") -> None:
        self.done += count
        self.note = note or self.note
        display.get().show(self)

    def begin(self, number: int) -> None:
        """A shard is at work; said again, it changes nothing."""
        name = self._part(number)
        if name not in self.parts:
            self.parts[name] = None
            display.get().show(self)

    def finish(self, number: int, came: str) -> None:
        self.parts[self._part(number)] = came
        display.get().show(self)

    def _part(self, number: int) -> str:
        return f"{self.stage}-{number:04d}"


class Display(Protocol):
    def show(self, tracker: Tracker) -> None: ...
    def end(self, tracker: Tracker) -> None: ...


class PlainLines:
    """A line every `every_s` seconds and one at the end, for logs."""

    def __init__(self, every_s: float = 10.0) -> None:
        self.every_s = every_s
        self.shown_at: dict[str, float] = {}
        self.shown_done: dict[str, int] = {}

    def show(self, tracker: Tracker) -> None:
        now = time.monotonic()
        if now - self.shown_at.get(tracker.stage, tracker.began) >= self.every_s:
            self.shown_at[tracker.stage] = now
            self._print(tracker)

    def end(self, tracker: Tracker) -> None:
        if self.shown_done.get(tracker.stage) != tracker.done:
            self._print(tracker)

    def _print(self, tracker: Tracker) -> None:
        self.shown_done[tracker.stage] = tracker.done
        print(line(tracker), file=sys.stderr, flush=True)


def line(tracker: Tracker) -> str:
    """`screen 40/96 1.2/s 47 s left, 61 % accepted`."""
    eta = "" if tracker.eta_s is None or tracker.done >= tracker.total else f" {tracker.eta_s:.0f} s left"
    note = f", {tracker.note}" if tracker.note else ""
    return f"{tracker.stage} {tracker.done}/{tracker.total} {tracker.per_second:.1f}/s{eta}{note}"


class Noted:
    """What another display shows, and the latest line in a file besides: `ops6k status` reads it."""

    def __init__(self, shown: Display, path: Path) -> None:
        self.shown, self.path = shown, path
        self.noted_at = -NOTED_EVERY_S

    def show(self, tracker: Tracker) -> None:
        if time.monotonic() - self.noted_at >= NOTED_EVERY_S:
            self.noted_at = time.monotonic()
            self.path.write_text(f"{line(tracker)}\n", encoding="utf-8")
        self.shown.show(tracker)

    def end(self, tracker: Tracker) -> None:
        self.shown.end(tracker)


NOTED_EVERY_S = 1.0

display: ContextVar[Display] = ContextVar("display", default=PlainLines())  # noqa: B039 - one per process is meant


@contextmanager
def noted(stage: str, path: Path) -> Iterator[None]:
    """While the block runs the file says which stage does and how far it is; afterwards it is gone."""
    path.write_text(f"{stage}\n", encoding="utf-8")
    token = display.set(Noted(display.get(), path))
    try:
        yield
    finally:
        display.reset(token)
        path.unlink(missing_ok=True)


@contextmanager
def track(stage: str, total: int) -> Iterator[Tracker]:
    """A tracker whose end is shown also when the block raises."""
    tracker = Tracker(stage, total)
    display.get().show(tracker)
    try:
        yield tracker
    finally:
        display.get().end(tracker)
