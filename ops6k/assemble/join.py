"""What became of every candidate, from all tables joined once: candidate, verdict, matches, cluster.

The only place where the tables meet. `load` is strict (a stale or torn folder is an error that names it); `peek` takes
what there is, for the report of an unfinished build.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from ops6k import rounds
from ops6k.errors import MissingInput
from ops6k.records import Candidate, Match, Outcome, Reason, Verdict
from ops6k.store import read_rows

R = TypeVar("R")

# They reach 1.0 for tasks that have no more in common than a set of operators, or a part.
PARTIAL_CHANNELS = ("contains", "operators")


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a build, unjoined."""

    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]
    matches: tuple[Match, ...]
    clusters: tuple[tuple[str, str], ...]
    """(candidate_id, cluster)."""


@dataclass(frozen=True, slots=True)
class Story:
    """All that is known of one candidate."""

    candidate: Candidate
    verdict: Verdict | None
    """None where the screen has not come to it."""
    matches: tuple[Match, ...]
    cluster: str | None

    @property
    def is_accepted(self) -> bool:
        """The screen took it; dedup may yet have rejected it."""
        return self.verdict is not None and self.verdict.outcome is Outcome.ACCEPTED

    @property
    def rejecting(self) -> Match | None:
        """The first match that rejects it: dedup writes the surest channel first."""
        return next((m for m in self.matches if m.reason), None)

    @property
    def is_eligible(self) -> bool:
        return self.is_accepted and self.rejecting is None

    @property
    def reason(self) -> Reason | None:
        if self.is_accepted:
            return self.rejecting.reason if self.rejecting else None
        return self.verdict.reason if self.verdict else None

    @property
    def outcome(self) -> Outcome | None:
        """Its class after screen and dedup; None where it was not screened."""
        if self.verdict is None:
            return None
        return self.reason.outcome if self.reason else self.verdict.outcome

    @property
    def message(self) -> str:
        match = self.rejecting
        if self.is_accepted and match:
            where = f" of {match.benchmark}" if match.benchmark else ""
            return f"{match.channel} similarity {match.score:.3f} to {match.reference}{where}"
        return self.verdict.message if self.verdict else ""

    @property
    def nearest(self) -> Match | None:
        """The nearest benchmark problem; channels that compare less than the whole task count only where no other does."""
        near = [m for m in self.matches if m.benchmark]
        return max(near, key=lambda m: (m.channel not in PARTIAL_CHANNELS, m.score), default=None)


def load(data: Path) -> tuple[Story, ...]:
    """Stories sorted by candidate_id; raises MissingInput where a folder is missing or older than another."""
    rounds.require(data)
    for file in (data / "matches" / "matches.parquet", data / "matches" / "clusters.parquet"):
        if not file.exists():
            raise MissingInput(f"{file}: no such file; `ops6k dedup` makes it")
    tables = _tables(data)
    _require_fresh(tables, data)
    return _join(tables)


def peek(data: Path) -> tuple[Story, ...]:
    """Stories of whatever tables there are; nothing is required of them but that they can be read."""
    return _join(_tables(data))


def _tables(data: Path) -> Tables:
    return Tables(
        candidates=tuple(rounds.candidates(data)),
        verdicts=tuple(rounds.verdicts(data)),
        matches=_rows(data / "matches" / "matches.parquet", Match),
        clusters=_clusters(data / "matches" / "clusters.parquet"),
    )


def _rows(path: Path, record: type[R]) -> tuple[R, ...]:
    return tuple(read_rows(path, record)) if path.exists() else ()


def _clusters(path: Path) -> tuple[tuple[str, str], ...]:
    if not path.exists():
        return ()
    try:
        table = pq.read_table(path, columns=["candidate_id", "cluster"])
        return tuple(zip(table["candidate_id"].to_pylist(), table["cluster"].to_pylist(), strict=True))
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise MissingInput(f"{path}: not a table of candidate_id and cluster ({str(error).splitlines()[0]})") from None


def _require_fresh(tables: Tables, data: Path) -> None:
    """Raises MissingInput where one table does not fit another: then a stage has to run again."""
    for name, ids in (
        ("candidates", [c.candidate_id for c in tables.candidates]),
        ("verdicts", [v.candidate_id for v in tables.verdicts]),
    ):
        twice = [id_ for id_, count in Counter(ids).items() if count > 1]
        if twice:
            raise MissingInput(f"{data}: {name}: {twice[0]} stands there twice; run `ops6k screen` again")
    known = {c.candidate_id for c in tables.candidates}
    _require_known("verdicts", "screen", [v.candidate_id for v in tables.verdicts], known)
    accepted = {v.candidate_id for v in tables.verdicts if v.outcome is Outcome.ACCEPTED}
    _require_known("matches", "dedup", [m.candidate_id for m in tables.matches], known)
    missed = accepted - {id_ for id_, _ in tables.clusters} - {m.candidate_id for m in tables.matches if m.reason}
    if missed:
        raise MissingInput(f"{data / 'matches'}: accepted candidate {min(missed)} was not compared; run `ops6k dedup` again")


def _require_known(folder: str, stage: str, ids: Iterable[str], known: set[str]) -> None:
    unknown = set(ids) - known
    if unknown:
        raise MissingInput(f"{folder}: {min(unknown)} is no candidate of this build; run `ops6k {stage}` again")


def _join(tables: Tables) -> tuple[Story, ...]:
    verdicts = {v.candidate_id: v for v in tables.verdicts}
    clusters = dict(tables.clusters)
    matches: dict[str, list[Match]] = {}
    for match in tables.matches:
        matches.setdefault(match.candidate_id, []).append(match)
    candidates = {c.candidate_id: c for c in tables.candidates}
    return tuple(
        Story(candidates[id_], verdicts.get(id_), tuple(matches.get(id_, ())), clusters.get(id_)) for id_ in sorted(candidates)
    )
