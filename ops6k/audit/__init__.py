"""Audit: what is wrong with somebody's set, row by row. Text checks and a dry run of each task in the sandbox, then the
benchmarks and the set itself. Nothing is allocated: no device is needed, and what only a run shows is not looked for."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ops6k import target as targets
from ops6k.audit.rows import Row, rows_of
from ops6k.dedup.decide import Subject, compare, rejections
from ops6k.dedup.examples import compared_with
from ops6k.params import Params
from ops6k.progress import track
from ops6k.records import Work
from ops6k.sandbox import Ended, Job, Sandbox
from ops6k.screen.course import DRY_RUN_GIB, DRY_RUN_TIMEOUT_S
from ops6k.screen.limits import limits_of
from ops6k.screen.text import text_finding
from ops6k.store import code_hash, files_hash, fingerprint, from_plain, is_whole, read_rows, to_plain, write_rows

PACKAGE = Path(__file__).resolve().parents[1]
_CODE = (PACKAGE / "screen", PACKAGE / "sandbox", PACKAGE / "labels.py")
SHARD_ROWS = 64


@dataclass(frozen=True, slots=True)
class Seen:
    """What text and dry run show of one row."""

    reason: str | None
    message: str
    operators: tuple[str, ...] | None
    """ATen operators of the dry run."""
    predicted_ms: float | None
    """On the target of params.yaml."""
    headroom: float | None
    """Predicted time of the operators one by one over that of one fused kernel."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one row."""

    place: str
    name: str
    kind: str
    """A Reason of the screen or of dedup: `invalid/label`, `contaminated/benchmark`, `duplicate/near`."""
    message: str


@dataclass(frozen=True, slots=True)
class Audit:
    source: str
    rows: int
    """Of the set."""
    looked_at: int
    faults: tuple[Fault, ...]
    compared: tuple[str, ...]
    """Names of the benchmarks."""
    target: str
    headroom: tuple[float, ...]
    """Of the rows whose dry run ended, sorted."""

    def by_kind(self) -> dict[str, list[Fault]]:
        counts = Counter(fault.kind for fault in self.faults)
        return {kind: [fault for fault in self.faults if fault.kind == kind] for kind, _ in counts.most_common()}


def audit(source: str, params: Params, work: Path, *, sample: int | None = None, workers: int = 2) -> Audit:
    """Faults in the order of the rows. work: folder of shards that a second run takes over. sample: so many rows, drawn by params.seed.

    Raises MissingInput, HubError for a source or an index that cannot be read.
    """
    references = compared_with(params)
    rows = rows_of(source)
    total = len(rows)
    if sample is not None and sample < total:
        rows = [rows[i] for i in sorted(random.Random(params.seed).sample(range(total), sample))]
    seen = _seen(rows, params, work, workers)
    subjects = [
        Subject(str(i), row.ops or (), row.code, one.operators) for i, (row, one) in enumerate(zip(rows, seen, strict=True))
    ]
    with track("audit: compare", len(subjects)) as progress:
        copies = rejections(compare(subjects, references, params.dedup, progress).matches)
    faults = []
    for i, (row, one) in enumerate(zip(rows, seen, strict=True)):
        if one.reason is not None:
            faults.append(Fault(row.place, row.name, one.reason, one.message))
        if match := copies.get(str(i)):
            of = f"{match.reference} of {match.benchmark}" if match.benchmark else rows[int(match.reference)].place
            faults.append(Fault(row.place, row.name, str(match.reason), f"{match.channel} {match.score:.2f} with {of}"))
    headroom = tuple(sorted(one.headroom for one in seen if one.headroom is not None))
    compared = tuple(dict.fromkeys(reference.benchmark for reference in references))
    return Audit(source, total, len(rows), tuple(faults), compared, targets.load(params.path(params.target)).name, headroom)


def _seen(rows: Sequence[Row], params: Params, work: Path, workers: int) -> list[Seen]:
    target = targets.load(params.path(params.target))
    limits = limits_of(params.screen, target)
    key = fingerprint(to_plain(limits), to_plain(target), code_hash(*_CODE), files_hash(Path(__file__)))
    chunks = [rows[start : start + SHARD_ROWS] for start in range(0, len(rows), SHARD_ROWS)]
    shards = [work / key / f"{fingerprint([(row.ops, row.code) for row in chunk])}.parquet" for chunk in chunks]
    missing = [(shard, chunk) for shard, chunk in zip(shards, chunks, strict=True) if not is_whole(shard)]
    if missing:
        shared = {"limits": to_plain(limits), "target": to_plain(target)}
        with (
            track("audit", sum(len(chunk) for _, chunk in missing)) as progress,
            Sandbox(
                device="cpu", workers=workers, preload="torch,ops6k.screen.judge", warm_up="ops6k.screen.warm:dry_run_once"
            ) as sandbox,
        ):
            for shard, chunk in missing:
                write_rows(shard, _dry_run(sandbox, chunk, shared), Seen)
                progress.advance(len(chunk))
    return [one for shard in shards for one in read_rows(shard, Seen)]


def _dry_run(sandbox: Sandbox, rows: Sequence[Row], shared: dict) -> list[Seen]:
    found: dict[int, Seen] = {}

    def jobs() -> Iterator[Job]:
        for number, row in enumerate(rows):
            finding = text_finding(row.code, row.ops)
            if finding is not None:
                found[number] = Seen(str(finding.reason), finding.message, None, None, None)
                continue
            payload = shared | {
                "candidate_id": str(number),
                "code": row.code,
                "ops": list(row.ops or ()),
                "judge_labels": row.ops is not None,
            }
            yield Job(str(number), "ops6k.screen.judge:dry_run_candidate", payload, DRY_RUN_TIMEOUT_S, DRY_RUN_GIB)

    for ended in sandbox.map(jobs()):
        found[int(ended.job_id)] = _of(ended)
    return [found[number] for number in range(len(rows))]


def _of(ended: Ended) -> Seen:
    if ended.answer is None:
        kind = {"timeout": "unfinished/timeout", "memory": "unfinished/memory"}.get(ended.how, "invalid/crash")
        return Seen(kind, f"{ended.how} in the dry run after {ended.seconds:.0f} s", None, None, None)
    verdict = ended.answer.get("verdict") or {}
    work = ended.answer.get("work") or verdict.get("work")
    if work is None:
        return Seen(verdict.get("reason"), verdict.get("message") or "", None, None, None)
    known = from_plain(Work, work)
    return Seen(
        verdict.get("reason"), verdict.get("message") or "", tuple(known.operators), known.predicted_ms, known.fusion_headroom
    )
