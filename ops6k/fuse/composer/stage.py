"""Composes a whole run in the sandbox, batch by batch into a work folder, so that a killed run goes on where it was."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k import target as targets
from ops6k.errors import WorkerError
from ops6k.fuse.composer.batch import Proposal, payload_of
from ops6k.fuse.made import Made, mix_note, write
from ops6k.fuse.sources import wanted
from ops6k.params import Params
from ops6k.progress import Tracker, track
from ops6k.records import Candidate, Funnel
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.store import code_hash, files_hash, fingerprint, from_plain, is_whole, read_rows, write_rows
from ops6k.target import Target

PACKAGE = Path(__file__).resolve().parents[2]
CODE = (PACKAGE / "fuse" / "composer", PACKAGE / "fuse" / "sources.py", PACKAGE / "screen" / "dry_run.py", PACKAGE / "labels.py")
BATCH_ROWS = 24
TIMEOUT_S = 300.0
MEMORY_GIB = 4.0
SURPLUS = 1.5
"""At most so many times the candidates wanted are composed to make up for those that repeat or cannot be fitted."""


@dataclass(frozen=True, slots=True)
class Work:
    """Where the batches of one run lie: a folder that stands for all they depend on."""

    params: Params
    target: Target
    folder: Path

    @classmethod
    def of(cls, params: Params, data: Path) -> "Work":
        target = targets.load(params.path(params.target))
        recipes = files_hash(*sorted((PACKAGE / "fuse" / "composer").rglob("*.yaml")))
        key = fingerprint(params.seed, params.mix, params.fuse.target_ms, target, code_hash(*CODE), recipes)
        return cls(params, target, data / ".work" / "fuse" / key)

    def shard(self, number: int) -> Path:
        return self.folder / f"{number:05d}.parquet"

    def job(self, number: int) -> Job:
        start = number * BATCH_ROWS
        rows = [wanted(self.params.mix, self.params.seed, index) for index in range(start, start + BATCH_ROWS)]
        payload = payload_of(self.target, self.params.fuse.target_ms, rows)
        return Job(str(number), "ops6k.fuse.composer.batch:compose_batch", payload, TIMEOUT_S, MEMORY_GIB)

    def fill(self, numbers: Sequence[int]) -> None:
        """Makes the batches that are missing. Raises WorkerError where a child ends without an answer."""
        missing = [number for number in numbers if not is_whole(self.shard(number))]
        if not missing:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        made = Counter()
        with (
            track("fuse", len(missing) * BATCH_ROWS) as tracker,
            Sandbox(
                device="cpu",
                workers=os.cpu_count() or 1,
                preload="torch,ops6k.fuse.composer.batch",
                warm_up="ops6k.fuse.composer.batch:warm_up",
            ) as sandbox,
        ):
            for ended in sandbox.map(self._begun(missing, tracker)):
                proposals = _proposals(ended)
                write_rows(self.shard(int(ended.job_id)), proposals, Proposal)
                _show(tracker, made, proposals)
                tracker.finish(int(ended.job_id), f"{sum(p.candidate is not None for p in proposals)} composed")

    def _begun(self, numbers: Iterable[int], tracker: Tracker) -> Iterator[Job]:
        for number in numbers:
            tracker.begin(number)
            yield self.job(number)


def _proposals(ended: Ended) -> list[Proposal]:
    if ended.answer is None:
        raise WorkerError(f"composing batch {ended.job_id} ended by {ended.how}: {ended.detail[:300]}")
    return [from_plain(Proposal, row) for row in ended.answer["proposals"]]


def _show(tracker: Tracker, made: Counter[str], proposals: Iterable[Proposal]) -> None:
    for proposal in proposals:
        made["composed" if proposal.candidate else "given up"] += 1
    tracker.advance(BATCH_ROWS, f"{made['composed']} composed, {made['given up']} given up")


def composed(params: Params, data: Path) -> Made:
    """Composes until `fuse.candidates` distinct tasks are there and writes data/candidates/."""
    work, count = Work.of(params, data), params.fuse.candidates
    needed = -(-count // BATCH_ROWS)
    read = 0
    kept: list[Candidate] = []
    dropped: Counter[str] = Counter()
    proposals: list[Proposal] = []
    while len(kept) < count and read < SURPLUS * needed + 1:
        numbers = range(read, read + max(1, -(-(count - len(kept)) // BATCH_ROWS)))
        work.fill(numbers)
        proposals += [p for number in numbers for p in read_rows(work.shard(number), Proposal)]
        read = numbers.stop
        kept, dropped = _selected(proposals, count)
    write(data / "candidates", kept)
    # Candidates that a later one stood in for; what is left over once the count is reached is not dropped.
    taken = len(kept) + sum(dropped.values())
    return Made(tuple(kept), taken, tuple(Funnel(r, n) for r, n in sorted(dropped.items())), _notes(kept, proposals))


def _selected(proposals: Iterable[Proposal], count: int) -> tuple[list[Candidate], Counter[str]]:
    """The first `count` tasks that are there and differ from all earlier ones in more than sizes; why others were dropped."""
    kept: dict[str, Candidate] = {}
    dropped: Counter[str] = Counter()
    for proposal in proposals:
        if len(kept) == count:
            break
        if proposal.fault is not None:
            dropped["composer fault"] += 1
        elif proposal.candidate is None:
            dropped["not composed"] += 1
        elif proposal.shape in kept:
            dropped["same graph as an earlier one"] += 1
        else:
            kept[proposal.shape] = proposal.candidate
    return list(kept.values()), dropped


def _notes(kept: Sequence[Candidate], proposals: Sequence[Proposal]) -> tuple[str, ...]:
    refused = sum(len(p.refused) for p in proposals)
    made = sum(p.candidate is not None for p in proposals)
    faults = [
        f"a fault of the composer's own, please report it: number {p.index}, {p.fault}" for p in proposals if p.fault is not None
    ]
    return (mix_note(kept), f"{made} of {made + refused} composed graphs could be fitted and hold at real widths", *faults[:3])
