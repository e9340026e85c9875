"""Which job begins next: never more at once than workers and device memory allow, and small ones pass a large one for a while."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol

PATIENCE = 64
"""So many jobs may pass one that does not fit yet; then it is the next to begin."""


class Asks(Protocol):
    """What admission looks at in a job."""

    job_id: str
    device_gib: float
    alone: bool


class Admission:
    """Jobs still to be drawn, waiting and running. Draws no further ahead than there are workers."""

    def __init__(self, jobs: Iterable[Asks], workers: int, device_gib: float) -> None:
        self.source: Iterator[Asks] = iter(jobs)
        self.workers, self.device_gib = workers, device_gib
        self.waiting: deque[Asks] = deque()
        self.running: dict[str, Asks] = {}
        self.passed = 0
        """Jobs that began although the first in line had come before them."""

    def begin(self) -> Asks | None:
        """The next job that may begin now, or None."""
        while len(self.running) < self.workers:
            place = next((i for i, job in enumerate(self.waiting) if self._fits(job)), None)
            if place is not None and (place == 0 or (self.passed < PATIENCE and not self.waiting[0].alone)):
                self.passed = 0 if place == 0 else self.passed + 1
                job = self.waiting[place]
                del self.waiting[place]
                self.running[job.job_id] = job
                return job
            blocked = len(self.waiting) >= self.workers or self.passed >= PATIENCE or any(job.alone for job in self.waiting)
            if blocked or (job := next(self.source, None)) is None:
                return None
            self.waiting.append(job)
        return None

    def end(self, job_id: str, then: Asks | None) -> None:
        """A job has ended; `then` follows from it and goes before those still to be drawn."""
        del self.running[job_id]
        if then is not None:
            self.waiting.append(then)

    def _fits(self, job: Asks) -> bool:
        if not self.running:
            return True
        if job.alone or any(other.alone for other in self.running.values()):
            return False
        return sum(other.device_gib for other in self.running.values()) + job.device_gib <= self.device_gib
