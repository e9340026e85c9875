"""Audit: what is wrong with somebody's set, row by row. Text checks and a dry run of each task in the sandbox, with a device the
whole screen; then the benchmarks and the set itself. Without a device nothing is allocated, and what only a run shows is not seen."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ops6k.audit.rows import Row, rows_of
from ops6k.dedup.decide import Subject, compare, rejections
from ops6k.dedup.examples import compared_with
from ops6k.judge import rules_on
from ops6k.params import Params
from ops6k.progress import track
from ops6k.records import Candidate, Match
from ops6k.screen.course import Course, Rules
from ops6k.screen.shards import CHECKING_CODE, dry_runs, judged, judged_in, rules_of
from ops6k.store import code_hash, files_hash, fingerprint, is_whole, read_rows, to_plain, write_rows
from ops6k.tables import readable

SHARD_ROWS = 64


@dataclass(frozen=True, slots=True)
class Seen:
    """What text and dry run, and a run where there is a device, show of one row."""

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
    code: str
    link: str | None
    """Where a browser shows the row; None for what lies on this machine."""


@dataclass(frozen=True, slots=True)
class Audit:
    source: str
    rows: int
    """Of the set."""
    looked_at: int
    labelled: int
    """Of these, rows that name their operators."""
    faults: tuple[Fault, ...]
    compared: tuple[str, ...]
    """Names of the benchmarks."""
    target: str
    """Name of the target that predictions are for."""
    device: str | None
    """Name of the device on which every task was run; None where none was."""
    headroom: tuple[float, ...]
    """Of the rows whose dry run ended, sorted."""

    def by_kind(self) -> dict[str, list[Fault]]:
        counts = Counter(fault.kind for fault in self.faults)
        return {kind: [fault for fault in self.faults if fault.kind == kind] for kind, _ in counts.most_common()}


def audit(
    source: str, params: Params, work: Path, *, device: str | None = None, sample: int | None = None, workers: int = 2
) -> Audit:
    """Faults in the order of the rows. work: folder of shards that a second run takes over. device: cpu or cuda, to run each task
    there; None for text and dry runs alone. sample: so many rows, drawn by params.seed.

    Raises MissingInput, HubError for a source or an index that cannot be read, Ops6kError for a device that is not there.
    """
    rules = _rules(params, device, work)
    references = compared_with(params)
    rows = rows_of(source)
    total = len(rows)
    if sample is not None and sample < total:
        rows = [rows[i] for i in sorted(random.Random(params.seed).sample(range(total), sample))]
    seen = _seen(rows, rules, work, workers)
    subjects = [
        Subject(str(i), row.ops or (), row.code, one.operators)
        for i, (row, one) in enumerate(zip(rows, seen, strict=True))
        if not row.lacks  # nothing is no copy of nothing
    ]
    with track("audit: compare", len(subjects)) as progress:
        matches = compare(subjects, references, params.dedup, progress).matches
    return Audit(
        source=readable(source),
        rows=total,
        looked_at=len(rows),
        labelled=sum(row.ops is not None for row in rows),
        faults=tuple(_faults(rows, seen, rejections(matches))),
        compared=tuple(dict.fromkeys(reference.benchmark for reference in references)),
        target=rules.target.name,
        device=(rules.target.device_name or rules.target.device) if device else None,
        headroom=tuple(sorted(one.headroom for one in seen if one.headroom is not None)),
    )


def _rules(params: Params, device: str | None, work: Path) -> Rules:
    return (
        rules_on(params, device, keep=work) if device else replace(rules_of(params), resize_rounds=0, times={}, dry_run_only=True)
    )


def _faults(rows: Sequence[Row], seen: Sequence[Seen], copies: Mapping[str, Match]) -> Iterator[Fault]:
    for i, (row, one) in enumerate(zip(rows, seen, strict=True)):
        if one.reason is not None:
            yield Fault(row.place, row.name, one.reason, row.lacks or one.message, row.code, row.link)
        if match := copies.get(str(i)):
            of = f"{match.reference} of {match.benchmark}" if match.benchmark else rows[int(match.reference)].place
            said = f"{match.channel} {match.score:.2f} with {of}"
            yield Fault(row.place, row.name, str(match.reason), said, row.code, row.link)


def _seen(rows: Sequence[Row], rules: Rules, work: Path, workers: int) -> list[Seen]:
    """In the order of the rows; shard by shard, so that a killed audit goes on."""
    chunks = [rows[start : start + SHARD_ROWS] for start in range(0, len(rows), SHARD_ROWS)]
    shards = [work / _key(rules) / f"{fingerprint([(row.ops, row.code) for row in chunk])}.parquet" for chunk in chunks]
    missing = [(shard, row) for shard, chunk in zip(shards, chunks, strict=True) if not is_whole(shard) for row in chunk]
    courses = [Course(i, _candidate(row), replace(rules, judge_labels=row.ops is not None)) for i, (_, row) in enumerate(missing)]
    left = Counter(shard for shard, _ in missing)
    found: dict[Path, list[Course]] = defaultdict(list)
    with track("audit", len(courses)) as progress:
        for course in _judged(courses, rules, workers):
            shard, _ = missing[course.number]
            found[shard].append(course)
            if len(found[shard]) == left[shard]:
                write_rows(shard, map(_of, sorted(found.pop(shard), key=lambda one: one.number)), Seen)
            progress.advance()
    return [one for shard in shards for one in read_rows(shard, Seen)]


def _key(rules: Rules) -> str:
    """Of the folder of shards: what the result depends on."""
    known = (to_plain(rules.limits), to_plain(rules.target), rules.dry_run_only)
    return fingerprint(*known, code_hash(*CHECKING_CODE), files_hash(Path(__file__)))


def _judged(courses: Sequence[Course], rules: Rules, workers: int) -> Iterator[Course]:
    if not courses:
        return
    if not rules.dry_run_only:
        yield from judged(courses, rules.target, workers)
        return
    with dry_runs(workers) as sandbox:
        yield from judged_in(sandbox, courses, rules.target)


def _candidate(row: Row) -> Candidate:
    return Candidate(row.name, row.ops or (), row.code, "given", 0, "", ())


def _of(course: Course) -> Seen:
    verdict = course.verdicts[-1] if course.verdicts else None
    work = verdict.work if verdict else course.work
    return Seen(
        str(verdict.reason) if verdict and verdict.reason else None,
        verdict.message if verdict else "",
        work and work.operators,
        work and work.predicted_ms,
        work and work.fusion_headroom,
    )
